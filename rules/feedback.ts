/** What feedback is about, and what became of it. */
export const feedbackKinds = ['defect', 'missing', 'blame'] as const;
export type FeedbackKind = (typeof feedbackKinds)[number];
/** `open`: not answered yet. */
export const feedbackStatuses = ['open', 'planned', 'done', 'declined'] as const;
export type FeedbackStatus = (typeof feedbackStatuses)[number];
