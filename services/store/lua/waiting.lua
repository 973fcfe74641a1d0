-- Tells how many commands of a partition wait, and since when. Writes nothing.
--
-- KEYS  1 commands of the partition (stream)
-- ARGV  1 name of the partition's state, which shares the hash tag: it is only read  2 most that are counted
-- Gives {how many wait, id of the oldest, "" if none does}
local cursor = redis.call('HGET', ARGV[1], 'cur') or '0-0'
local waiting = redis.call('XRANGE', KEYS[1], '(' .. cursor, '+', 'COUNT', ARGV[2])
return {#waiting, waiting[1] and waiting[1][1] or ''}
