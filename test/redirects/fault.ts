import { AppError } from '#runtime/errors.ts';

/** What `invalid_redirects` says, or `fine`. */
export function faultOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_redirects') return error.message;
    throw error;
  }
  return 'fine';
}
