-- Writes outputs of projections to one slot together with how far their source was read, or nothing.
--
-- KEYS  1 checkpoints of the slot (hash)   2 hold   then the keys of each output, see below
-- ARGV  1 source partition   2 its checkpoint seen, "": there was none; "*": it is kept and checked in another slot
--       3 its checkpoint now, "": as before   4 who may write while a hold stands   5 how many outputs follow
--       each output is its kind and
--         "table"   keys: fold, frozen, bank, records, sealed records   table, version before, version after, state,
--                   how many fields follow, for each: which of the keys from bank on (1...), field, value
--         "freeze"  keys: frozen   table, error
--         "post"    keys: balance, score   id, place, chips as decimal text, posting; done once by its id
--         "row"     keys: lobby, order, versions   table, version, place, row or "" to remove it; an older one
--                   does not replace a newer one
-- Gives 1 | 0 when the checkpoint or a table is not where it was seen | -1 when held
local checkpoints, hold = KEYS[1], KEYS[2]
local source, seen, now, writer = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key, place

local function next_keys(count)
  key = key + count
  return unpack(KEYS, key - count + 1, key)
end

local function next_arguments(count)
  place = place + count
  return unpack(ARGV, place - count + 1, place)
end

local function each(visit)
  key, place = 2, 5
  for _ = 1, tonumber(ARGV[5]) do
    if visit(next_arguments(1)) == false then return false end
  end
  return true
end

local holder = redis.call('GET', hold)
if holder and holder ~= writer then return -1 end

if seen ~= '*' and (redis.call('HGET', checkpoints, source) or '') ~= seen then return 0 end

-- Each key is read before the first is written, so that a wrong type stops all of it.
local fits = each(function(kind)
  if kind == 'table' then
    local fold, frozen, bank, records, sealed = next_keys(5)
    local _, before, _, _, count = next_arguments(5)
    place = place + 3 * tonumber(count) -- Many deals are more than a call can give at once.
    redis.call('HLEN', frozen)
    redis.call('HLEN', bank)
    redis.call('HLEN', records)
    redis.call('HLEN', sealed)
    return (redis.call('HGET', fold, 'v') or '0') == before
  elseif kind == 'freeze' then
    redis.call('HLEN', (next_keys(1)))
    next_arguments(2)
  elseif kind == 'post' then
    local balance, score = next_keys(2)
    redis.call('HLEN', balance)
    redis.call('ZCARD', score)
    next_arguments(4)
  else
    local lobby, order, versions = next_keys(3)
    redis.call('HLEN', lobby)
    redis.call('ZCARD', order)
    redis.call('HLEN', versions)
    next_arguments(4)
  end
end)
if not fits then return 0 end

each(function(kind)
  if kind == 'table' then
    local fold, frozen, bank, records, sealed = next_keys(5)
    local outputs = {bank, records, sealed}
    local name, _, after, state, count = next_arguments(5)
    for _ = 1, tonumber(count) do
      local output, field, value = next_arguments(3)
      redis.call('HSET', outputs[tonumber(output)], field, value)
    end
    redis.call('HSET', fold, 'v', after, 's', state)
    redis.call('HDEL', frozen, name)
  elseif kind == 'freeze' then
    local frozen = next_keys(1)
    redis.call('HSET', frozen, next_arguments(2))
  elseif kind == 'post' then
    local balance, score = next_keys(2)
    local id, member, chips, posting = next_arguments(4)
    if redis.call('HSETNX', balance, id, posting) == 1 then
      redis.call('ZADD', score, 0, member)
      redis.call('HINCRBY', balance, 'balance', chips)
    end
  else
    local lobby, order, versions = next_keys(3)
    local name, version, member, row = next_arguments(4)
    if tonumber(version) > tonumber(redis.call('HGET', versions, name) or '0') then
      redis.call('HSET', versions, name, version)
      if row == '' then
        redis.call('HDEL', lobby, name)
        redis.call('ZREM', order, member)
      else
        redis.call('HSET', lobby, name, row)
        redis.call('ZADD', order, 0, member)
      end
    end
  end
end)
if now ~= '' then redis.call('HSET', checkpoints, source, now) end
return 1
