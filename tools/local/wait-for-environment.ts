/**
 * Imported before the entry of a process that is started before its dependencies are ready. It preloads modules, and
 * lets the entry run when the parent sends the environment.
 */
const modules = process.env.PRELOADED_MODULES;
// Processes that this one forks get the same arguments, but must not wait.
delete process.env.PRELOADED_MODULES;
if (modules !== undefined) {
  const environment = new Promise<{ env: NodeJS.ProcessEnv }>((resolve) =>
    process.once('message', (message) => resolve(message as { env: NodeJS.ProcessEnv })),
  );
  // Only the channel keeps the process alive while it waits.
  process.channel?.ref();
  await Promise.all((JSON.parse(modules) as string[]).map((one) => import(one)));
  Object.assign(process.env, (await environment).env);
  process.channel?.unref();
}

export {};
