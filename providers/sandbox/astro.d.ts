/** Types for the sandbox's runner: the framework is installed only in the image. */
declare module 'astro' {
  export function build(config: object): Promise<void>;
}
