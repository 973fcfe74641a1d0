-- Appends leaves to the log of finished deals, each once and in the order of its table, or does nothing.
--
-- KEYS  1 state of the log (hash)  2 leaves (stream)  then the hashes of the tables concerned and the blocks of nodes
-- ARGV  1 how many leaves there are  2 how many are new, for each of these:
--         which of KEYS its table is, deal before it that is logged ("0": none), deal, version at which it ended, hash
--         there, leaf
--       then for each node that is new: which of KEYS its block is, where in it, hash
-- Gives 1 | 0 when the log or a table is not where it was seen
--
-- Nodes are hashed by the caller, as scripts have no SHA-256: they are right if the log is as long as he saw it.
local log, leaves = KEYS[1], KEYS[2]
local size, count = tonumber(ARGV[1]), tonumber(ARGV[2])
if tonumber(redis.call('HGET', log, 'n') or '0') ~= size then return 0 end

local seen = {}
for number = 1, count do
  local place = 6 * number - 3
  local name = KEYS[tonumber(ARGV[place])]
  local logged = seen[name] or redis.call('HGET', name, 'd') or '0'
  if logged ~= ARGV[place + 1] then return 0 end
  seen[name] = ARGV[place + 2]
end
redis.call('XLEN', leaves)
local nodes = 6 * count + 3
for place = nodes, #ARGV, 3 do redis.call('STRLEN', KEYS[tonumber(ARGV[place])]) end

for number = 1, count do
  local place = 6 * number - 3
  local name, deal = KEYS[tonumber(ARGV[place])], ARGV[place + 2]
  local index = string.format('%d', size + number - 1)
  redis.call('XADD', leaves, string.format('%d-0', size + number), 'd', ARGV[place + 5])
  redis.call('HSET', name, 'd', deal, 'v', ARGV[place + 3], 'h', ARGV[place + 4], deal, index)
end
for place = nodes, #ARGV, 3 do
  redis.call('SETRANGE', KEYS[tonumber(ARGV[place])], ARGV[place + 1], ARGV[place + 2])
end
redis.call('HSET', log, 'n', string.format('%d', size + count))
return 1
