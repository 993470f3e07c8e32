import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { Feedback } from '#db/feedback/feedback.ts';
import { feedbackKinds, feedbackStatuses } from '#rules/feedback.ts';

export const messageLengthMax = 4000;
export const contextBytesMax = 16_384;

export const feedbackInput = z.strictObject({
  kind: z
    .enum(feedbackKinds)
    .describe(
      '`defect`: something is broken. `missing`: a capability is missing. `blame`: an error message blames the wrong party.',
    ),
  message: z
    .string()
    .trim()
    .min(1)
    .describe(`What happened and what you expected, in at most ${messageLengthMax} characters.`),
  context: z
    .unknown()
    .optional()
    .describe(`Details in JSON, at most ${contextBytesMax} bytes: the API call, its response and the request_id.`),
});
export type FeedbackInput = z.output<typeof feedbackInput>;

export const feedbackSchema = z
  .object({
    id: z.string(),
    kind: z.enum(feedbackKinds),
    status: z.enum(feedbackStatuses).describe('`open`: the operator has not answered yet.'),
    message: z.string(),
    answer: z.string().nullable().describe('What the operator answered.'),
    created_at: moment,
    answered_at: moment.nullable(),
  })
  .meta({ id: 'Feedback' });

export function feedbackView(note: Feedback): z.output<typeof feedbackSchema> {
  const { id, kind, status, message, answer, createdAt, answeredAt } = note;
  return { id, kind, status, message, answer: answer ?? null, created_at: createdAt, answered_at: answeredAt ?? null };
}
