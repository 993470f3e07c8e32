/** Loaded before our own processes: when the one that started us dies, its channel closes, and we stop as if asked to. */
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
  // Whoever is left has nobody to kill it.
  setTimeout(() => process.exit(1), 15_000).unref();
});
// A listener would keep the process alive for the sake of the channel.
process.channel?.unref();
