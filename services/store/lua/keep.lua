-- Keeps a snapshot that the owner of a table has made while he read a long past.
--
-- KEYS  1 lease  2 snapshots of the table
-- ARGV  1 fence: the lease of the caller  2 version  3 tag  4 snapshot
--       5 "way": the past goes on behind it, "rest": the table has not been at rest since
--       6 with "rest": version of the snapshot that the caller found, "": none
-- Gives 1 | 0 when the lease is another's, or a snapshot is there that the caller has not seen
--
-- One on the way lies beside that of the last rest, which may be good for a build of another shape. When that of the
-- last rest is made, the one before stays beside it if it is of another shape, and nothing does otherwise.
local name = KEYS[2]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[5] == 'way' then
  redis.call('HSET', name, 'ov', ARGV[2], 'ox', ARGV[3], 'ob', ARGV[4])
  return 1
end
local found = redis.call('HMGET', name, 'v', 'x', 'b')
if (found[1] or '') ~= ARGV[6] then return 0 end
if found[1] and found[2] and found[3] and found[2] ~= ARGV[3] then
  redis.call('HSET', name, 'ov', found[1], 'ox', found[2], 'ob', found[3])
else
  redis.call('HDEL', name, 'ov', 'ox', 'ob')
end
redis.call('HSET', name, 'v', ARGV[2], 'x', ARGV[3], 'b', ARGV[4])
return 1
