/**
 * Loaded before those of our own processes that are started ahead of what they need: loads what takes long meanwhile, and lets the entry run at
 * the word of whoever started us, which brings its environment.
 */
const modules = process.env.HELD_MODULES;
// Processes that this one forks are given the same arguments, and are not held.
delete process.env.HELD_MODULES;
if (modules !== undefined) {
  const word = new Promise<{ env: NodeJS.ProcessEnv }>((resolve) =>
    process.once('message', (message) => resolve(message as { env: NodeJS.ProcessEnv })),
  );
  // While it waits nothing else keeps the process alive.
  process.channel?.ref();
  // What cannot be loaded is said by the entry.
  await Promise.all((JSON.parse(modules) as string[]).map((one) => import(one).catch(() => {})));
  Object.assign(process.env, (await word).env);
  process.channel?.unref();
}

export {};
