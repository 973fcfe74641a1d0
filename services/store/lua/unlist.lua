-- Takes a table off a list, unless something has happened to it since.
--
-- KEYS  1 list (sorted set)
-- ARGV  1 table  2 its version on the list as it was seen
-- Gives 1 | 0
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '-1') ~= tonumber(ARGV[2]) then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
