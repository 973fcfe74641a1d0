-- Applies one handled command: its events, receipt, views and cursor together, or nothing at all.
--
-- KEYS  1 lease  2 state  3 receipts  4 events  5 feed  6 view, and if 9 or 21 of ARGV are not "" or there is a dead
--       letter: 7 due  8 dead letters  9 log  10 snapshot  11 tables; all in one partition; 3-6 and 10 of the aggregate
-- ARGV  1 fence: the lease of the caller
--       2 id of the command before this one in the partition  3 id of this command
--       4 version the decision was made at, "": any (then nothing may be appended)
--       5 channel of live readers, "": they are told later  6 aggregate  7 field "<actor>/<key>"  8 receipt
--       9 when its receipts may be forgotten, ms, "": leave that
--       10 version of the new entry, "": a command without events; then only 11... follow, the fields and values
--          of a dead letter, if any
--       11 time, ms  12 actor  13 key  14 fingerprint  15 all events  16 tag of the build
--       17 hash of the entry, in the chain of the table's
--       18 view: public part that moves change, private parts of seats 0 1 2  19 rest of the view
--       20 "1" if the rest is not the last version's, else ""  21 "" if 22-26 are left out, else "more":
--       22 kinds of subscriptions that care, "": none  23 what the clock waits for, ms, "": as before, "-": nothing
--       24 first version that the feed keeps, "": all  25 snapshot, "": none
--       26 "1" if the tries of this command were counted, else ""
--       then the fields and values of the feed's entry
-- Gives {"applied"} | {"duplicate", stored receipt} | {"behind"} | {"gap"} | {"fenced"} | {"conflict", version};
--       after anything but the first two, or an error, nothing has changed.
--
-- Scripts are not rolled back: every check stands before the first write. A key of a wrong type ends the script with
-- an error at the read that tries it.
local lease, state, receipts, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local previous, command, expected = ARGV[2], ARGV[3], ARGV[4]
local field, receipt, forget, version = ARGV[7], ARGV[8], ARGV[9], ARGV[10]

if redis.call('GET', lease) ~= ARGV[1] then return {'fenced'} end

local cursor = redis.call('HGET', state, 'cur') or '0-0'
if cursor ~= previous then
  local cursor_ms, cursor_seq = string.match(cursor, '^(%d+)-(%d+)$')
  local ms, seq = string.match(command, '^(%d+)-(%d+)$')
  cursor_ms, ms = tonumber(cursor_ms), tonumber(ms)
  if cursor_ms > ms or (cursor_ms == ms and tonumber(cursor_seq) >= tonumber(seq)) then return {'behind'} end
  return {'gap'} -- The command before it was refused by one of these checks: this one was decided on sand.
end

local stored = redis.call('HGET', receipts, field)
if stored then
  redis.call('HSET', state, 'cur', command)
  if ARGV[5] ~= '' then redis.call('PUBLISH', ARGV[5], table.concat({ARGV[6], field, stored}, '\1')) end
  return {'duplicate', stored}
end

local function newest()
  local last = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
  return last and string.match(last[1], '^%d+') or '0'
end
if expected ~= '' then
  -- The last entry is long. That the view is of this version says the same where nothing newer is in the stream, and
  -- an entry finds that out as it is appended.
  local found = redis.call('HGET', KEYS[6], 'v')
  if found ~= expected or version == '' then found = newest() end
  if found ~= expected then return {'conflict', found} end
end
if forget ~= '' then redis.call('ZCARD', KEYS[7]) end

if version == '' then
  if ARGV[11] then
    redis.call('XLEN', KEYS[8])
    redis.call('XADD', KEYS[8], '*', unpack(ARGV, 11))
  end
  if forget ~= '' then redis.call('ZADD', KEYS[7], forget, ARGV[6] .. '|f|' .. expected) end
  redis.call('HSET', receipts, field, receipt)
  redis.call('HSET', state, 'cur', command)
  redis.call('HDEL', state, 'tries:' .. command)
  if ARGV[5] ~= '' then redis.call('PUBLISH', ARGV[5], table.concat({ARGV[6], field, receipt}, '\1')) end
  return {'applied'}
end

local feed, view, at, tag = KEYS[5], KEYS[6], ARGV[11], ARGV[16]
local more = ARGV[21] ~= ''
redis.call('XLEN', feed)
if more then
  redis.call('ZCARD', KEYS[7])
  redis.call('XLEN', KEYS[9])
  redis.call('HLEN', KEYS[10])
  redis.call('SCARD', KEYS[11])
end

local id = version .. '-0'
local added = redis.pcall('XADD', events, id, 'at', at, 'a', ARGV[12], 'k', ARGV[13], 'f', ARGV[14], 'e', ARGV[15],
  'x', tag, 'h', ARGV[17])
if added.err then -- Nothing is written yet.
  local found = newest()
  if found == expected then return added end
  return {'conflict', found}
end
local told = more and 27 or 22
redis.call('XADD', feed, id, 'at', at, unpack(ARGV, told))
redis.call('HSET', receipts, field, receipt)
if ARGV[20] == '' then
  redis.call('HSET', view, 'v', version, 'p', ARGV[18])
else
  redis.call('HSET', view, 'v', version, 'p', ARGV[18], 'q', ARGV[19])
end
if more then
  local due, aggregate, kinds, clock, floor, whole = KEYS[7], ARGV[6], ARGV[22], ARGV[23], ARGV[24], ARGV[25]
  if kinds ~= '' then redis.call('XADD', KEYS[9], '*', 't', aggregate, 'v', version, 'k', kinds) end
  if clock == '-' then
    redis.call('ZREM', due, aggregate)
  elseif clock ~= '' then
    redis.call('ZADD', due, clock, aggregate)
  end
  if forget ~= '' then redis.call('ZADD', due, forget, aggregate .. '|f|' .. version) end
  if floor ~= '' then redis.call('XTRIM', feed, 'MINID', floor .. '-0') end
  if whole ~= '' then redis.call('HSET', KEYS[10], 'v', version, 'x', tag, 'b', whole) end
  if expected == '0' then redis.call('SADD', KEYS[11], aggregate) end
  if ARGV[26] ~= '' then redis.call('HDEL', state, 'tries:' .. command) end
end
redis.call('HSET', state, 'cur', command)
if ARGV[5] ~= '' then -- As `append._message` puts it where replicas must confirm first.
  redis.call('PUBLISH', ARGV[5], table.concat({ARGV[6], field, receipt, version, at, ARGV[18], ARGV[19], ARGV[20],
    unpack(ARGV, told)}, '\1'))
end
return {'applied'}
