-- Takes a command in, once per key of its sender.
--
-- KEYS  1 commands of the partition (stream)   2 reservations of the aggregate (hash)
-- ARGV  1 name of the receipts  2 name of the tables  3 name of the partition's state: only read, so that whoever
--         takes commands in needs no right to write them; all three share the hash tag of KEYS
--       4 aggregate  5 field "<actor>/<key>"  6 fingerprint  7 most commands that may wait, "0": no limit
--       8 "1" when the aggregate must exist   9 channel that wakes the owner of the partition
--       10... the fields and values of the command
-- Gives {"new", command id} | {"dup", receipt or ""} | {"reused"} | {"unknown"} | {"busy"}
local commands, reservations = KEYS[1], KEYS[2]
local receipts, tables, state = ARGV[1], ARGV[2], ARGV[3]
local aggregate, field, fingerprint, limit = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])

local reserved = redis.call('HGET', reservations, field)
if reserved then
  if reserved ~= fingerprint then return {'reused'} end
  return {'dup', redis.call('HGET', receipts, field) or ''}
end
if ARGV[8] == '1' and redis.call('SISMEMBER', tables, aggregate) == 0 then return {'unknown'} end

local cursor = redis.call('HGET', state, 'cur') or '0-0'
-- Handled commands go in whole blocks as new ones come; only a queue that seems full is worth a trim of its own.
if limit > 0 and redis.call('XLEN', commands) >= limit then
  redis.call('XTRIM', commands, 'MINID', '~', cursor)
  if redis.call('XLEN', commands) >= limit then return {'busy'} end
end

-- The lengths and fields read above prove the types of both keys: nothing below can fail halfway.
if limit == 0 then redis.call('XLEN', commands) end
redis.call('HSET', reservations, field, fingerprint)
local id = redis.call('XADD', commands, 'MINID', '~', cursor, '*', unpack(ARGV, 10))
redis.call('PUBLISH', ARGV[9], '')
return {'new', id}
