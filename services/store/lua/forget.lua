-- Forgets the receipts of a table up to a version, what its feed told before, and a snapshot that was
-- kept beside the table's for builds of another shape.
--
-- KEYS  1 lease  2 due  3 receipts  4 reservations  5 feed  6 snapshots
-- ARGV  1 fence  2 table  3 version: receipts up to it go  4 first version that the feed keeps
--       5 tag of the snapshots that the caller can read
--       6... earlier members of the due times that are done with this one
-- Gives how many receipts went | -1 when the lease is another's
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
local due, receipts, reservations, feed = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local limit = tonumber(ARGV[3])
redis.call('XLEN', feed) -- Each key is read before the first is written, so that a wrong type stops all of it.
redis.call('HLEN', reservations)
redis.call('ZCARD', due)
redis.call('HLEN', KEYS[6])

local gone = 0
local all = redis.call('HGETALL', receipts)
for place = 1, #all, 2 do
  -- Receipts begin {"v":<version>, so that they need not be parsed.
  local version = tonumber(string.match(all[place + 1], '^{"v":(%d+)') or '')
  if version and version <= limit then
    redis.call('HDEL', receipts, all[place])
    redis.call('HDEL', reservations, all[place])
    gone = gone + 1
  end
end
redis.call('XTRIM', feed, 'MINID', ARGV[4] .. '-0')
if redis.call('HGET', KEYS[6], 'ox') ~= ARGV[5] then redis.call('HDEL', KEYS[6], 'ov', 'ox', 'ob') end
redis.call('ZREM', due, ARGV[2] .. '|f|' .. ARGV[3], unpack(ARGV, 6))
return gone
