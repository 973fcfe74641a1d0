-- Takes what projections made of old deals out of the store, once it lies in files.
--
-- KEYS  1 hold of the slot   2 bank   3 records   4 sealed records; all of the table
-- ARGV  1 number of the last of these deals   then, for each field: which of the keys from 2 on (1...), field, value
-- Gives 1 | 0 when a rebuild compares just now, or a field is not what was put into the files: nothing has changed
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local moved = tonumber(redis.call('HGET', KEYS[2], 'moved') or '0')
for place = 2, #ARGV, 3 do
  if redis.call('HGET', KEYS[1 + ARGV[place]], ARGV[place + 1]) ~= ARGV[place + 2] then return 0 end
end
for place = 2, #ARGV, 3 do redis.call('HDEL', KEYS[1 + ARGV[place]], ARGV[place + 1]) end
if tonumber(ARGV[1]) > moved then redis.call('HSET', KEYS[2], 'moved', ARGV[1]) end
return 1
