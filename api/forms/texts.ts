/** A form's own texts and its return path, as its owner writes them. Visitors see them as plain text. */
import { z } from 'zod';
import { isLinked } from '#rules/addresses-in-text.ts';
import { isPath, pathLengthMax } from './visit.ts';

const textMax = 500;
const buttonMax = 60;

const storable = (text: string) => text.isWellFormed() && !/[^\P{Cc}\n]/u.test(text);
const paragraph = z
  .string()
  .trim()
  .min(1)
  .max(textMax)
  .transform((text) => text.replace(/\r\n?/g, '\n'))
  .refine(storable, 'it must not contain control characters');

/** Also the columns of an archive. */
export const formTexts = {
  button: z
    .string()
    .trim()
    .min(1)
    .max(buttonMax)
    .refine((text) => storable(text) && !text.includes('\n'), 'it must be a single line of text')
    .nullable()
    .describe('The text of the button. The default is “Send”, in the visitor’s language.'),
  thanks: paragraph.nullable().describe('What a visitor reads after sending. The default is a short thank-you.'),
  fallback: paragraph
    .nullable()
    .describe('What a visitor without JavaScript reads, such as a telephone number: they cannot send the form.'),
  return_path: z
    .string()
    .max(pathLengthMax)
    .refine(isPath, 'it must be a path on this site, such as /thanks/')
    .nullable()
    .describe('The path to which a visitor is redirected after sending, such as /thanks/. `_return` in the HTML wins.'),
} as const;

export const acknowledgementText = paragraph.refine(
  (text) => !isLinked(text),
  'it must not contain a web address, a host name or an e-mail address',
);
