-- Claims a partition that nobody owns, with an epoch that no owner had before.
--
-- KEYS  1 lease  2 state
-- ARGV  1 nonce of the caller  2 how long the lease lasts, ms
-- Gives {fence, cursor, "1" if the last owner did not give it back} | {} when somebody else owns it
local owner = redis.call('GET', KEYS[1])
-- A caller who owns it already did not hear of that.
if owner and string.match(owner, '^%d+:(.*)$') ~= ARGV[1] then
  -- A lease longer than any is given was taken before the store's clock was put back: an owner who lives renews it.
  if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return {}
end
local epoch = redis.call('HINCRBY', KEYS[2], 'epoch', 1)
-- The nonce keeps fences apart even if a fail-over to a replica that lags takes the epoch back.
local fence = string.format('%d', epoch) .. ':' .. ARGV[1]
local died = redis.call('HGET', KEYS[2], 'owned')
redis.call('HSET', KEYS[2], 'owned', '1')
redis.call('SET', KEYS[1], fence, 'PX', ARGV[2])
return {fence, redis.call('HGET', KEYS[2], 'cur') or '0-0', died or '0'}
