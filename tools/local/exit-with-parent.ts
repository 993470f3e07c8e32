/**
 * Imported before the entries of our own processes: the channel closes when the parent dies, and then this process
 * stops.
 */
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
  // No parent is left to kill a process that does not stop.
  setTimeout(() => process.exit(1), 15_000).unref();
});
// The listener alone must not keep the process alive.
process.channel?.unref();
