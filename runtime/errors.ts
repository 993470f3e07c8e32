/** Expected failures, and the catalog of their codes. */

import { markdownCalls } from '#rules/calls/calls.ts';
import { hostingErrors } from './errors/hosting.ts';
import { moneyErrors } from './errors/money.ts';
import { otherErrors } from './errors/others.ts';
import { requestErrors } from './errors/requests.ts';
import type { ErrorRow } from './errors/row.ts';
import { siteErrors } from './errors/sites.ts';
import { visitorErrors } from './errors/visitors.ts';

/** One row for each error code. OpenAPI lists the codes in this order. */
export const catalog = {
  ...requestErrors,
  ...siteErrors,
  ...hostingErrors,
  ...visitorErrors,
  ...moneyErrors,
  ...otherErrors,
};

export type ErrorCode = keyof typeof catalog;

export type ErrorOptions = {
  /** What to do, in plain language, with the call to make. Omitted if no call fixes the problem. */
  nextAction?: string;
  /** The build log. Only for build failures. */
  detail?: string;
  /** Only for codes whose catalog entry says `'depends'`. */
  retryable?: boolean;
  /** Seconds until a retry can succeed; sent as `retry-after`. */
  retryAfterSeconds?: number;
  /** The field of the input that is wrong, and how, as in "must not be empty". It is shown at fields of forms, never sent. */
  field?: FieldFault;
  /** The underlying error. It is logged, never sent. */
  cause?: unknown;
};

/** A field by its path, as in `intake.0.label`. */
export type FieldFault = { name: string; words: string };

/** The body of every error response, inside `{ "error": … }`. */
export type ErrorBody = {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  next_action?: string;
  request_id?: string;
  detail?: string;
};

/** An expected failure with a code of the catalog. Agents relay its message to the owner. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly nextAction: string | undefined;
  readonly detail: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly field: FieldFault | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const entry: ErrorRow = catalog[code];
    this.name = 'AppError';
    this.code = code;
    this.status = entry.status;
    this.retryable = options.retryable ?? (entry.retryable === 'depends' ? false : entry.retryable);
    this.nextAction = options.nextAction;
    this.detail = options.detail;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.field = options.field;
  }

  /** The error that a row keeps as its body. */
  static of({ code, message, retryable, next_action: nextAction, detail }: ErrorBody): AppError {
    return new AppError(code, message, {
      retryable,
      ...(nextAction ? { nextAction } : {}),
      ...(detail === undefined ? {} : { detail }),
    });
  }

  toBody(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...(this.nextAction === undefined ? {} : { next_action: this.nextAction }),
      ...(this.detail === undefined ? {} : { detail: this.detail }),
    };
  }
}

type Constructors = { [Code in ErrorCode]: (message: string, options?: ErrorOptions) => AppError };

/** One constructor for each code: `throw errors.not_found('There is no site with this id.')`. */
export const errors = Object.fromEntries(
  (Object.keys(catalog) as ErrorCode[]).map((code) => [
    code,
    (message: string, options?: ErrorOptions) => new AppError(code, message, options),
  ]),
) as Constructors;

/** An error with the catalog's remedy as its `next_action`, where nothing more specific is known. */
export function withRemedy(code: ErrorCode, message: string, options: ErrorOptions = {}): AppError {
  return new AppError(code, message, { ...options, nextAction: catalog[code].remedy });
}

/** The remedy of a code for Markdown: its calls are written as code. */
export const remedyInMarkdown = (code: string): string => markdownCalls(catalog[code as ErrorCode].remedy);
