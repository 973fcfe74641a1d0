-- Trims a table's stream behind the last deal that is archived, and takes the table off the list once that is done.
--
-- KEYS  1 marks of the partition (hash)  2 list of what is to be archived (sorted set)  3 snapshot  4 events
--       5 how far the table is projected (hash)
-- ARGV  1 table
-- Gives how many entries went
--
-- It needs no fence. Whoever runs it, and however late: an entry only goes if it is archived and was read back (the
-- mark), if every replay may begin behind it (the snapshot), if the projections have passed it, and if it is not the
-- last one, at which the next append reads the table's version. Appends only add behind all of these, the mark and
-- the snapshot only grow, so what may go once may go for ever. An owner that is fenced off meanwhile, or that replays
-- from an older snapshot, reads the archive. The script itself is one step: no append comes between its reads and its
-- trim.
local mark = tonumber(string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '0', '^%d+'))
local wanted = redis.call('ZSCORE', KEYS[2], ARGV[1])
local rested = tonumber(redis.call('HGET', KEYS[3], 'v') or '0')
local last = redis.call('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1)[1]
local projected = tonumber(redis.call('HGET', KEYS[5], 'v') or '0')

local gone = 0
local is_free = rested >= mark and projected >= mark -- A deal goes whole: projections begin at a deal's first version.
if is_free and mark > 0 and last then
  local keep = math.min(mark + 1, tonumber(string.match(last[1], '^%d+')))
  gone = redis.call('XTRIM', KEYS[4], 'MINID', string.format('%d-0', keep))
end
if is_free and wanted and tonumber(wanted) <= mark then redis.call('ZREM', KEYS[2], ARGV[1]) end
return gone
