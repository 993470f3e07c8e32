import { type WrittenMail, write } from './layout.ts';

/** To the owner of an account that a person of the platform has stopped, with the reason; `null` once it goes on. */
export function accountBlocked({ reason }: { reason: string | null }): WrittenMail {
  if (reason === null) return goesOn;
  return write({
    subject: 'Your account is blocked',
    preview: 'Those who run this platform have stopped it, and say why.',
    heading: 'Your account is blocked',
    blocks: [
      'Those who run this platform have stopped your account. The reason they give:',
      { quote: reason },
      'Until they let it go on, your websites are not shown, they take no enquiries, bookings or payments, and nobody can sign in or act for you. Nothing is deleted.',
      'If this is a mistake, or once it is mended, write to whoever runs this platform.',
    ],
    footer: 'You get this because this address has an account here.',
  });
}

const goesOn = write({
  subject: 'Your account goes on',
  preview: 'It is no longer blocked.',
  heading: 'Your account goes on',
  blocks: [
    'Your account is no longer blocked. Your websites are shown again as they were, and you and your agents can go on.',
    'What was being published when it was blocked was cancelled: publish it again.',
  ],
  footer: 'You get this because this address has an account here.',
});
