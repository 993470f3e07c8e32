/** One error code of the catalog. */
export type ErrorRow = {
  status: number;
  /** `'depends'`: the `retryable` option decides where the error is thrown. */
  retryable: boolean | 'depends';
  /** When the service returns the code: a sentence without its full stop. */
  when: string;
  /** What the caller does about it, in one or two sentences. The `next_action` of a response is more specific and takes precedence. */
  remedy: string;
};

export const notOffered = 'Continue without this feature, and tell the owner that it is not available here.';
