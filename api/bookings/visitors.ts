/** Validation of a visitor's name, address and answers. */

import { isPlainEmail } from '#api/email-addresses.ts';
import { validateValues } from '#api/forms/values.ts';
import type { VisitorWishes } from '#db/bookings/visitor-contact.ts';
import type { FormField } from '#db/forms/form.ts';
import type { SubmittedValue } from '#db/forms/submission.ts';
import { containsAddress } from '#rules/addresses-in-text.ts';
import { isZone } from '#rules/bookings/time-zones.ts';
import type { Service } from '#rules/bookings/timetable.ts';
import { call } from '#rules/calls/calls.ts';
import { errors } from '#runtime/errors.ts';

type Answer = string | number | boolean;
export type VisitorInput = {
  visitor: {
    name: string;
    email: string;
    notify_changes?: boolean | undefined;
    remind?: boolean | undefined;
    time_zone?: string | undefined;
  };
  intake: Record<string, Answer | Answer[]>;
};

export type ReadVisitor = { name: string; email: string; wishes: VisitorWishes; intake: SubmittedValue[] };

/** Reports all faults at once, in words for the visitor. `canMail`: whether e-mails are sent. Throws `invalid_visitor`. */
export function readVisitor(
  { visitor, intake }: VisitorInput,
  service: Pick<Service<FormField>, 'intake'>,
  canMail: boolean,
): ReadVisitor {
  const email = visitor.email.trim();
  const given = new Map(Object.entries(intake).map(([name, answer]) => [name, [answer].flat().map(textOf)]));
  const { values, faults } = validateValues(service.intake, given, { keepUnknown: false });
  const said = [
    ...personFaults(visitor.name, email),
    ...wishFaults(visitor, canMail),
    ...faults.map(({ name, message }) =>
      service.intake.some((field) => field.name === name) ? message : `${name}: ${message}`,
    ),
  ];
  if (said.length === 0) {
    return { name: visitor.name, email: email.toLowerCase(), wishes: wishesOf(visitor), intake: values };
  }
  throw errors.invalid_visitor(said.slice(0, 10).join(' '), {
    nextAction: `Call ${call('offer.read')}, which lists the service’s questions in intake.`,
  });
}

export type OwnVisitor = Omit<VisitorInput['visitor'], 'email' | 'time_zone'> & { email?: string | undefined };

/** The person for whom the site's people book, whose address they may not know. Throws `invalid_visitor`. */
export function readOwnVisitor(
  visitor: OwnVisitor,
  canMail: boolean,
): { name: string; email: string | undefined; wishes: VisitorWishes } {
  const email = visitor.email?.trim();
  const faults = [
    ...personFaults(visitor.name, email),
    ...wishFaults(visitor, canMail),
    ...(email === undefined && wantsMail(visitor)
      ? ['Add the visitor’s e-mail address, or leave out notify_changes and remind.']
      : []),
  ];
  if (faults.length > 0) throw errors.invalid_visitor(faults.join(' '));
  return { name: visitor.name, email: email?.toLowerCase(), wishes: wishesOf(visitor) };
}

type Wishes = Omit<VisitorInput['visitor'], 'name' | 'email'>;

const wantsMail = ({ notify_changes, remind }: Wishes): boolean => Boolean(notify_changes || remind);

function wishFaults(wishes: Wishes, canMail: boolean): string[] {
  if (canMail || !wantsMail(wishes)) return [];
  return ['This website sends no e-mails: leave out notify_changes and remind.'];
}

function personFaults(name: string, email: string | undefined): string[] {
  return [
    ...(containsAddress(name)
      ? ['Enter a name without a web or e-mail address. Put a space after each full stop.']
      : []),
    ...(email === undefined || isPlainEmail(email) ? [] : ['Enter a valid e-mail address, such as name@example.com.']),
  ];
}

/** A time zone that only the visitor's browser knows is left out of the mails. */
function wishesOf({ notify_changes, remind, time_zone }: Wishes): VisitorWishes {
  return {
    ...(notify_changes ? { notifyChanges: true } : {}),
    ...(remind ? { remind: true } : {}),
    ...(time_zone !== undefined && isZone(time_zone) ? { timeZone: time_zone } : {}),
  };
}

const textOf = (answer: Answer): string => (typeof answer === 'boolean' ? (answer ? 'yes' : 'no') : String(answer));
