-- Tells that a worker lives, and who else does.
--
-- KEYS  1 workers (sorted set by ms of the last heartbeat)
-- ARGV  1 name of the worker, "": only ask  2 how long a worker counts as alive, ms
-- Gives {time of the server in ms, name, name, ...}
local now = redis.call('TIME')
local ms = string.format('%d', now[1] * 1000 + math.floor(now[2] / 1000))
if ARGV[1] ~= '' then
  redis.call('ZADD', KEYS[1], ms, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%d', tonumber(ms) - tonumber(ARGV[2])))
end
local alive = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('%d', tonumber(ms) - tonumber(ARGV[2])), '+inf')
return {ms, unpack(alive)}
