/** A problem that the user can fix: one line that includes the remedy. Shown without a stack trace. */
export class UserError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'UserError';
  }
}
