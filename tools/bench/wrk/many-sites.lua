-- Any page of any site: `wrk … -- <sites> <pages> <domain>`.
dofile((arg and arg[0] or debug.getinfo(1).source:sub(2)):gsub('[^/]*$', '') .. 'wrk.lua')

local sites, pages, domain

init = function(args)
  sites, pages, domain = tonumber(args[1]), tonumber(args[2]), args[3]
  math.randomseed(tonumber(tostring({}):match('0x(%x+)'), 16) % 2 ^ 31)
end

request = function()
  local host = 'site-' .. math.random(0, sites - 1) .. '.' .. domain
  return wrk.format('GET', '/page-' .. math.random(0, pages - 1), { Host = host })
end
