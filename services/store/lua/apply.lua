-- Applies one handled command: its events, receipt, views and cursor together, or nothing at all.
--
-- KEYS  1 lease  2 state  3 receipts  4 due  5 dead letters  6 events  7 feed  8 view  9 log  10 snapshot  11 tables;
--       all in one partition; 3, 6-8 and 10 of the aggregate
-- ARGV  1 fence: the lease of the caller
--       2 id of the command before this one in the partition  3 id of this command
--       4 version the decision was made at, "": any (then nothing may be appended)
--       5 channel of live readers  6 aggregate  7 field "<actor>/<key>"  8 receipt
--       9 when its receipts may be forgotten, ms, "": leave that
--       10 version of the new entry, "": a command without events; then only 11... follow, the fields and values
--          of a dead letter, if any
--       11 time, ms  12 actor  13 key  14 fingerprint  15 all events  16 tag of the build
--       17 public events  18 19 20 the events as seats 0 1 2 see them, "": as public
--       21 public view: what moves change  22 23 24 private views of seats 0 1 2  25 the rest of the public view
--       26 who sits where  27 "1" if 25, 26, 28 or 29 differ from the last version's, else ""
--       28 join code  29 version at which the last deal ended  30 kinds of subscriptions that care, "": none
--       31 what the clock waits for, ms, "": as before, "-": nothing  32 first version that the feed keeps, "": all
--       33 snapshot, "": none  34 "1" if the tries of this command were counted, else ""
-- Gives {"applied", ""} | {"duplicate", stored receipt} | {"behind"} | {"gap"} | {"fenced"} | {"conflict", version}
--       | {"broken", key}; after anything but the first two nothing has changed.
--
-- Live readers get one message, parts joined by a zero byte (JSON holds none): aggregate, field, receipt, and when
-- there are events also 10, 11, 17-27 of ARGV. Nothing is kept of it: who missed one reads the feed and the view.
--
-- Scripts are not rolled back: every check stands before the first write.
local lease, state, receipts, due = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local fence, previous, command, expected, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local aggregate, field, receipt, forget, version = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]

if redis.call('GET', lease) ~= fence then return {'fenced'} end

local function reached(cursor, id)
  local cursor_ms, cursor_seq = string.match(cursor, '^(%d+)-(%d+)$')
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  cursor_ms, ms = tonumber(cursor_ms), tonumber(ms)
  return cursor_ms > ms or (cursor_ms == ms and tonumber(cursor_seq) >= tonumber(seq))
end

local cursor = redis.call('HGET', state, 'cur') or '0-0'
if cursor ~= previous then
  if reached(cursor, command) then return {'behind'} end
  return {'gap'} -- The command before it was refused by one of these checks: this one was decided on sand.
end

local function is_not(key, kind)
  local found = redis.call('TYPE', key).ok
  return found ~= kind and found ~= 'none'
end

local stored = redis.call('HGET', receipts, field)
if stored then
  redis.call('HSET', state, 'cur', command)
  redis.call('PUBLISH', channel, table.concat({aggregate, field, stored}, '\0'))
  return {'duplicate', stored}
end

local events = KEYS[6]
if expected ~= '' then
  local last = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
  local found = last and string.match(last[1], '^%d+') or '0'
  if found ~= expected then return {'conflict', found} end
end
if forget ~= '' and is_not(due, 'zset') then return {'broken', due} end

if version == '' then
  local dead = KEYS[5]
  if is_not(dead, 'stream') then return {'broken', dead} end
  if forget ~= '' then redis.call('ZADD', due, forget, aggregate .. '|f|' .. expected) end
  redis.call('HSET', receipts, field, receipt)
  if ARGV[11] then redis.call('XADD', dead, '*', unpack(ARGV, 11)) end
  redis.call('HSET', state, 'cur', command)
  redis.call('HDEL', state, 'tries:' .. command)
  redis.call('PUBLISH', channel, table.concat({aggregate, field, receipt}, '\0'))
  return {'applied', ''}
end

local feed, view, log, snapshot, tables = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local at, tag, kinds, clock, floor, whole = ARGV[11], ARGV[16], ARGV[30], ARGV[31], ARGV[32], ARGV[33]
if is_not(feed, 'stream') then return {'broken', feed} end
if is_not(view, 'hash') then return {'broken', view} end
if kinds ~= '' and is_not(log, 'stream') then return {'broken', log} end
if clock ~= '' and is_not(due, 'zset') then return {'broken', due} end
if whole ~= '' and is_not(snapshot, 'hash') then return {'broken', snapshot} end
if expected == '0' and is_not(tables, 'set') then return {'broken', tables} end

local id = version .. '-0'
redis.call('XADD', events, id, 'at', at, 'a', ARGV[12], 'k', ARGV[13], 'f', ARGV[14], 'e', ARGV[15], 'x', tag)
redis.call('HSET', receipts, field, receipt)
local shown = {'at', at, 'e', ARGV[17]}
for seat = 0, 2 do
  local seen = ARGV[18 + seat]
  if seen ~= '' then
    shown[#shown + 1] = 'e' .. seat
    shown[#shown + 1] = seen
  end
end
redis.call('XADD', feed, id, unpack(shown))
redis.call('HSET', view, 'v', version, 'p', ARGV[21], 'w0', ARGV[22], 'w1', ARGV[23], 'w2', ARGV[24])
if ARGV[27] ~= '' then
  redis.call('HSET', view, 'q', ARGV[25], 'who', ARGV[26], 'code', ARGV[28], 'settled', ARGV[29])
end
if kinds ~= '' then redis.call('XADD', log, '*', 't', aggregate, 'v', version, 'k', kinds) end
if clock == '-' then
  redis.call('ZREM', due, aggregate)
elseif clock ~= '' then
  redis.call('ZADD', due, clock, aggregate)
end
if forget ~= '' then redis.call('ZADD', due, forget, aggregate .. '|f|' .. version) end
if floor ~= '' then redis.call('XTRIM', feed, 'MINID', floor .. '-0') end
if whole ~= '' then redis.call('HSET', snapshot, 'v', version, 'x', tag, 'b', whole) end
if expected == '0' then redis.call('SADD', tables, aggregate) end
redis.call('HSET', state, 'cur', command)
if ARGV[34] ~= '' then redis.call('HDEL', state, 'tries:' .. command) end
redis.call('PUBLISH', channel, table.concat({aggregate, field, receipt, version, at, ARGV[17], ARGV[18], ARGV[19],
  ARGV[20], ARGV[21], ARGV[22], ARGV[23], ARGV[24], ARGV[25], ARGV[26], ARGV[27]}, '\0'))
return {'applied', ''}
