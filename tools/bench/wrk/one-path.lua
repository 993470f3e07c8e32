-- All servers of a benchmark are on this machine. The name of an address is only for TLS (SNI).
wrk.resolve = function(_, service)
  wrk.addrs = wrk.lookup('127.0.0.1', service)
end

-- What wrk found, as one line of JSON.
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"microseconds":%d,"failures":%d,"p50Ms":%.3f,"p99Ms":%.3f}\n',
    summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
