-- Tells that a worker lives, and who else does; and when no worker saw this store.
--
-- KEYS  1 workers (sorted set by ms of the last heartbeat)  2 when one was last seen, ms (string)
--       3 gaps (list, the latest first): "<ms> <ms>", between which none was seen
-- ARGV  1 name of the worker, "": only ask  2 how long a worker counts as alive, ms
--       3 how long none may be seen before that is a gap, ms  4 how many gaps are kept
-- Gives {time of the server in ms, gaps, name, name, ...}
local workers, alive = KEYS[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ms = string.format('%d', now)
if ARGV[1] ~= '' then
  -- The store stood still, was away, or its clock was put forward: that time counted for nobody.
  local seen = tonumber(redis.call('GET', KEYS[2]) or ms)
  if now - seen > tonumber(ARGV[3]) then
    redis.call('LPUSH', KEYS[3], string.format('%d %s', seen, ms))
    redis.call('LTRIM', KEYS[3], 0, ARGV[4] - 1)
  end
  redis.call('SET', KEYS[2], ms)
  -- Its clock was put back: who beat in what is now the future may have died since.
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', workers, '(' .. ms, '+inf')) do
    redis.call('ZADD', workers, ms, name)
  end
  redis.call('ZADD', workers, ms, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', workers, '-inf', string.format('%d', now - alive))
end
local names = redis.call('ZRANGEBYSCORE', workers, string.format('%d', now - alive), '+inf')
return {ms, redis.call('LRANGE', KEYS[3], 0, -1), unpack(names)}
