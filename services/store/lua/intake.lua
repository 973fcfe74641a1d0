-- Takes a command in, once per key of its sender.
--
-- KEYS  1 commands of the partition (stream)   2 reservations of the aggregate (hash)   if 13 of ARGV is not "0":
--       3 counts of what each player has sent (hash): it lives for a window, then all count from none
-- ARGV  1 name of the receipts  2 name of the tables, "": the aggregate need not exist  3 name of the partition's
--         state: these are only read, so that whoever takes commands in needs no right to write them; all three share
--         the hash tag of KEYS
--       4 channel that tells the owner of the partition  5 most commands that may wait, "0": no limit
--       6 aggregate  7 actor  8 key  9 fingerprint  10 body, JSON  11 name of the actor
--       12 version that the sender insists on, "": any
--       13 most commands of this actor in a window, "0": no limit  14 length of the window, ms
--       15 how long the oldest command may have waited, ms, where 16 or more are kept; not asked where 5 is "0"
-- Gives {"new", command id} | {"dup", receipt or ""} | {"reused"} | {"unknown"} | {"busy"} |
--       {"limited", ms until the window ends}
local commands, reservations = KEYS[1], KEYS[2]
local tables, state, limit = ARGV[2], ARGV[3], tonumber(ARGV[5])
local aggregate, fingerprint = ARGV[6], ARGV[9]
local field = ARGV[7] .. '/' .. ARGV[8]

local reserved = redis.call('HGET', reservations, field)
if reserved then
  if reserved ~= fingerprint then return {'reused'} end
  return {'dup', redis.call('HGET', ARGV[1], field) or ''}
end
if tables ~= '' and redis.call('SISMEMBER', tables, aggregate) == 0 then return {'unknown'} end

local most = tonumber(ARGV[13])
if most > 0 and tonumber(redis.call('HGET', KEYS[3], ARGV[7]) or '0') >= most then
  -- A window that ends later than any does began before the store's clock was put back.
  if redis.call('PTTL', KEYS[3]) > tonumber(ARGV[14]) then redis.call('PEXPIRE', KEYS[3], ARGV[14]) end
  return {'limited', redis.call('PTTL', KEYS[3])}
end

local cursor = redis.call('HGET', state, 'cur') or '0-0'
-- Handled commands go in whole blocks as new ones come; only a queue that seems full is worth a trim of its own.
local length = redis.call('XLEN', commands)
if limit > 0 and length >= limit then
  redis.call('XTRIM', commands, 'MINID', '~', cursor)
  length = redis.call('XLEN', commands)
  if length >= limit then return {'busy'} end
end
if limit > 0 and length >= tonumber(ARGV[16]) then
  local oldest = redis.call('XRANGE', commands, '(' .. cursor, '+', 'COUNT', 1)[1]
  if oldest then
    local now = redis.call('TIME')
    local since = now[1] * 1000 + now[2] / 1000 - tonumber(string.match(oldest[1], '^%d+'))
    if since > tonumber(ARGV[15]) then return {'busy'} end
  end
end

-- The lengths and fields read above prove the types of both keys: nothing below can fail halfway.
if most > 0 and redis.call('HINCRBY', KEYS[3], ARGV[7], 1) == 1 and redis.call('PTTL', KEYS[3]) == -1 then
  redis.call('PEXPIRE', KEYS[3], ARGV[14])
end
redis.call('HSET', reservations, field, fingerprint)
local entry = {'t', aggregate, 'a', ARGV[7], 'k', ARGV[8], 'f', fingerprint, 'b', ARGV[10]}
if ARGV[11] ~= '' then
  entry[#entry + 1] = 'n'
  entry[#entry + 1] = ARGV[11]
end
if ARGV[12] ~= '' then
  entry[#entry + 1] = 'v'
  entry[#entry + 1] = ARGV[12]
end
-- The owner is told the command itself, and which one was before it: if it knows that one, it need not read.
local last = redis.call('XREVRANGE', commands, '+', '-', 'COUNT', 1)[1]
local id = redis.call('XADD', commands, 'MINID', '~', cursor, '*', unpack(entry))
redis.call('PUBLISH', ARGV[4], table.concat({last and last[1] or '0-0', id, aggregate, ARGV[7], ARGV[11], ARGV[8],
  fingerprint, ARGV[10], ARGV[12]}, '\1'))
return {'new', id}
