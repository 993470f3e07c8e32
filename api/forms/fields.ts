/** The fields of a form, or the additional fields of a booking: a list that is validated as a whole. Pure. */
import { z } from 'zod';
import { askedFields, type FormField } from '#db/forms/form.ts';
import { type FieldKind, fieldKinds } from '#rules/states.ts';

const fieldsMax = 50;
const optionsMax = 100;
const optionLengthMax = 200;

/** Kinds of text, with their default maximum length in UTF-16 units, as browsers count `maxlength`. */
const typedLengths = {
  text: 500,
  email: 254,
  tel: 50,
  url: 2_000,
  textarea: 10_000,
  hidden: 2_000,
} as const satisfies Partial<Record<FieldKind, number>>;
const lengthMax = 20_000;

const choosing: readonly FieldKind[] = ['select', 'radio', 'checkboxes'];

/** Names that a form's request uses for other purposes. The platform's own names begin with an underscore; field names cannot. */
const reserved = ['altcha', 'cf-turnstile-response', 'h-captcha-response', 'g-recaptcha-response'];

export const isTyped = (kind: FieldKind): kind is keyof typeof typedLengths => Object.hasOwn(typedLengths, kind);
const isChoosing = (kind: FieldKind): boolean => choosing.includes(kind);

const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), 'it must be a single line of text');

const fieldSchema = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/,
        'it must start with a letter, contain only letters, digits, _ . and -, and have at most 64 characters',
      )
      .refine((name) => !reserved.includes(name), 'this name is reserved for the spam challenge')
      .describe('The field’s name in the HTML.'),
    label: line(200).describe('The label shown in the form, in e-mails and as a CSV column header.'),
    kind: z.enum(fieldKinds),
    required: z.boolean().default(false),
    options: z
      .array(line(optionLengthMax))
      .min(1)
      .max(optionsMax)
      .optional()
      .describe('Required for select, radio and checkboxes; not allowed for other kinds.'),
    max_length: z
      .int()
      .min(1)
      .max(lengthMax)
      .optional()
      .describe('Allowed only for the text kinds: text, email, tel, url, textarea, hidden.'),
    retired: z
      .boolean()
      .optional()
      .describe(
        'true: visitors are no longer asked. Stored answers and their CSV column are kept. Only in a form: leave a question of a timetable out instead.',
      ),
  })
  .superRefine(({ kind, options, max_length }, context) => {
    const fault = (message: string, path: string) => context.addIssue({ code: 'custom', message, path: [path] });
    if (isChoosing(kind) && !options) fault(`a field of kind ${kind} requires options`, 'options');
    if (!isChoosing(kind) && options) fault(`a field of kind ${kind} cannot have options`, 'options');
    if (new Set(options).size !== (options?.length ?? 0)) fault('an option is listed more than once', 'options');
    if (max_length !== undefined && !isTyped(kind))
      fault(`a field of kind ${kind} cannot have a maximum length`, 'max_length');
  })
  .meta({ id: 'FormField' });

/** The fields of a form: 1 to 50, of which visitors are asked at least one. A route maps its body field to `invalid_fields`. */
export const formFields = fieldList(1).refine(
  (fields) => askedFields(fields).length > 0,
  'at least one field must not be retired',
);

/** The additional fields of a booking. */
export const intakeFields = fieldList(0).refine(
  (fields) => fields.every(({ retired }) => retired === undefined),
  'only the fields of a form can be retired',
);

function fieldList(min: 0 | 1) {
  return z
    .array(fieldSchema)
    .min(min)
    .max(fieldsMax)
    .superRefine((fields, context) => {
      const seen = new Set<string>();
      for (const [index, { name }] of fields.entries()) {
        const message = `the name ${name} is used more than once`;
        if (seen.has(name)) context.addIssue({ code: 'custom', message, path: [index, 'name'] });
        seen.add(name);
      }
    });
}

/** The declared field of an answer. */
export const fieldAnswer = z
  .object({
    name: z.string(),
    label: z.string(),
    kind: z.enum(fieldKinds),
    required: z.boolean(),
    options: z.array(z.string()).optional(),
    max_length: z.number().int().optional(),
    retired: z.boolean().optional(),
  })
  .meta({ id: 'FormFieldAnswer' });

/** The maximum length of an answer in UTF-16 units. */
export function lengthOf({ kind, max_length }: FormField): number {
  return max_length ?? (isTyped(kind) ? typedLengths[kind] : optionLengthMax);
}
