/** Validation of a visitor's name, address and answers. */

import { isPlainEmail } from '#api/email-addresses.ts';
import { validateValues } from '#api/forms/values.ts';
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';
import type { Service } from '#rules/bookings/timetable.ts';
import { containsAddress } from '#rules/bookings/visitor-names.ts';
import { errors } from '#runtime/errors.ts';

type Answer = string | number | boolean;
export type VisitorInput = {
  visitor: { name: string; email: string };
  intake: Record<string, Answer | Answer[]>;
};

export type ReadVisitor = { name: string; email: string; intake: SubmittedValue[] };

/** Reports all faults at once, in words for the visitor. Throws `invalid_visitor`. */
export function readVisitor(
  { visitor, intake }: VisitorInput,
  service: Pick<Service<FormField>, 'intake'>,
): ReadVisitor {
  const email = visitor.email.trim();
  const given = new Map(Object.entries(intake).map(([name, answer]) => [name, [answer].flat().map(textOf)]));
  const { values, faults } = validateValues(service.intake, given, { keepUnknown: false });
  const said = [
    ...(containsAddress(visitor.name)
      ? ['Enter a name without a web or e-mail address. Put a space after each full stop.']
      : []),
    ...(isPlainEmail(email) ? [] : ['Enter a valid e-mail address, such as name@example.com.']),
    ...faults.map(({ name, message }) =>
      service.intake.some((field) => field.name === name) ? message : `${name}: ${message}`,
    ),
  ];
  if (said.length === 0) return { name: visitor.name, email: email.toLowerCase(), intake: values };
  throw errors.invalid_visitor(said.slice(0, 10).join(' '), {
    nextAction: 'Call GET /b/{public_id}, which lists the service’s questions in intake.',
  });
}

const textOf = (answer: Answer): string => (typeof answer === 'boolean' ? (answer ? 'yes' : 'no') : String(answer));
