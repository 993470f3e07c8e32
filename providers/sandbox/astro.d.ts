/** Types for the runner of the sandbox: the framework is installed only in its image. */
declare module 'astro' {
  /** Builds a site. */
  export function build(config: object): Promise<void>;
}
