/** The clock of a process of its own. */

/** `NODE_OPTIONS` of a process whose clock is ahead by so many milliseconds. */
export function aheadBy(ms: number): { NODE_OPTIONS: string } {
  const script = `
    const now = Date.now;
    Date.now = () => now() + ${ms};
    globalThis.Date = new Proxy(Date, {
      construct: (real, values, made) => Reflect.construct(real, values.length > 0 ? values : [real.now()], made),
    });`;
  const inherited = process.env.NODE_OPTIONS ?? '';
  return { NODE_OPTIONS: `${inherited} --import=data:text/javascript,${encodeURIComponent(script)}` };
}
