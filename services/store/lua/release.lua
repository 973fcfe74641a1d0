-- Gives a lease back, if it is still the caller's.
--
-- KEYS  1 lease  2 state
-- ARGV  1 fence
-- Gives 1 | 0 when the lease was another's already
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], 'owned', '0')
return redis.call('DEL', KEYS[1])
