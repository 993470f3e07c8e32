/** Tools and operations in the words of a model and its owner. */
import type { everydayTools } from '#rules/calls/calls.ts';

/** What each everyday tool is for. */
export const descriptions: Record<(typeof everydayTools)[number], string> = {
  'account.read':
    'The account: its plan and limits with what is used, what this platform offers, and how the owner is reached.',
  'comment.list':
    'What the owner and reviewers said about pages and previews: threads with their messages, authors, times, quotes and places.',
  'comment.reply': 'Answer in a comment thread. To resolve it, find the operation comment_write.',
  'deployment.list': 'The versions of a website, newest first: which is live, which can be restored, who published it.',
  'deployment.read': 'One version: its state, its warnings, what changed, and the build log if it failed.',
  'deployment.restore':
    'Roll back or undo a publish: make an earlier version (see deployment_list) live again at once, or a later one. The files stay as they are: correct them before the next publish.',
  'form.submissions':
    'Enquiries: what visitors sent with a contact form, newest first, or all of it as CSV. The operation form_list has the ids of forms, and says where enquiries go. You cannot answer one here: the owner does, by e-mail.',
  'inbox.read':
    'Everything that waits for you or the owner: comments, enquiries, bookings, payments, failed builds. Start here.',
  'preview.build':
    'Build a preview for the owner to look at before it is live. Slot 1 to 5; without changes on the branch preview/<slot> it shows main.',
  'preview.publish': 'Make the preview that the owner approved live, without building it again.',
  'site.create':
    'Make a new website from a template (see template_list), with its address. Templates are in English: write the owner’s language into the pages.',
  'site.list': 'The websites, with ids, names, addresses and states.',
  'site.publish':
    'Build the committed files and make them live. `posts` publishes only new and changed posts. The answer has the address.',
  'site.read': 'One website: its address, state, and whether it has changes that are not live.',
  'skill.read': 'The guide to working here. Begin with SKILL.md; it names the other files.',
  'source.commit':
    'Write the website’s files: pages, posts, opening hours and prices on pages, other languages, styles. `edits` replaces words in place, `text` writes a whole file. With `branch` preview/<slot> it changes that preview only.',
  'source.files':
    'List a folder of the website’s source, or read files. `path` takes a list of up to 20 files. Read docs/site.md first: it says where things are. Pictures come as images.',
};

/** Words that people use for an operation and that its name and summary do not have. */
export const otherWords: Readonly<Record<string, string>> = {
  'account.change': 'rename owner email name',
  'account.read': 'plan quota usage limits capabilities subscription cost price free',
  'asset.list': 'pictures images photos files media logo',
  'asset.read': 'picture image photo download',
  'asset.write': 'picture image photo upload logo pdf',
  'billing.checkout': 'buy upgrade bigger larger plan price',
  'billing.portal': 'invoice cancel plan payment card subscription',
  'billing.read': 'plan plans price upgrade subscription invoice cost',
  'bookable.declare':
    'offer appointments booking calendar timetable opening hours services price classes lessons schedule close closed holidays vacation week',
  'bookable.read': 'book visitor appointment timetable services prices url link',
  'bookable.end': 'stop appointments',
  'bookable.update': 'appointments notify e-mail address reply',
  'booking.cancel': 'appointment refund call off',
  'booking.create': 'appointment block holiday closed own',
  'booking.list': 'appointments reservations who booked today tomorrow week customer',
  'booking.move': 'appointment reschedule postpone',
  'calendar_feed.create': 'ical ics subscribe phone calendar',
  'collaborator.invite': 'share access colleague team member',
  'comment.write': 'feedback resolve close thread note',
  'deployment.create': 'upload built output static files zip own build',
  'deployment.files': 'export download manifest published files',
  'check.crop': 'picture image place finding',
  'check.read': 'findings problems result',
  'comparison.picture': 'picture image before after',
  'comparison.read': 'differences result before after',
  'deployment.compare':
    'visual difference diff differs two versions between regression before after changed pages preview look',
  'deployment.check':
    'accessibility contrast broken links pictures overflow mobile test audit lighthouse quality live site faults problems errors',
  'deployment.screenshot': 'see look picture image view render phone mobile page preview',
  'sketch.screenshot': 'see look picture image direction design',
  'deployment.list': 'who published',
  'deployment.read': 'differs two versions between changed state failed',
  'deployment.log': 'build log output error why failed',
  'deployment.restore': 'roll back rollback undo revert last publish previous earlier version',
  'domain.onboard': 'own address custom domain name dns connect',
  'feedback.create': 'report bug problem complaint wish missing',
  'feedback.list': 'report state answer what became',
  'form.create':
    'contact enquiry enquiries inquiry message newsletter sign-up thank confirmation acknowledgement receipt send submit visitor',
  'form.disable': 'close deactivate turn off',
  'form.list': 'why no enquiries arrive broken disabled working recipient notify e-mail address',
  'form.read': 'why no enquiries arrive broken disabled working',
  'form.submissions': 'answer reply enquiries enquiry inquiries contact messages answers csv export',
  'form.update': 'recipient notify notification who gets enquiries e-mail address thanks button question',
  'offer.days': 'free open available availability times slots next earliest appointment when vacancy calendar',
  'offer.slots': 'free open available availability times slots appointment day when vacancy hours',
  'payment.create': 'invoice pay link charge money deposit',
  'payment.list': 'total sum revenue income earned taken sales money',
  'payment.refund': 'partial part booking money back return',
  'payout.add': 'connect payments bank stripe key receive money',
  'payout.onboard': 'connect payments bank stripe',
  'payout_agreement.attach': 'connect receive money payments accept',
  'photo.place': 'picture image stock hero',
  'photo.search': 'picture image stock unsplash library',
  'preview.build': 'draft staging show before live',
  'record.add': 'dns mail mx txt email verification',
  'redirects.set': 'move old links url forward 301',
  'review.create': 'share feedback link comments',
  'site.analytics': 'visits visitors how many people statistics views traffic pages referrers sources',
  'site.archive': 'close take offline unpublish hide shut down notice holiday pause temporarily',
  'site.create': 'new website start blog',
  'site.delete': 'remove forever erase',
  'site.export': 'backup download archive move away copy leave',
  'site.history': 'who did what when audit activity published changed yesterday',
  'site.publish': 'go live deploy release put online',
  'site.unarchive': 'reopen bring back online',
  'site.update': 'rename address title',
  'sketch.create': 'design directions ideas variants look',
  'skill.list': 'help guide documentation',
  'skill.read':
    'help guide documentation language languages german french english version translate design response security headers frames cors csp cache robots search engines noindex',
  'source.commit':
    'edit change text page post article write blog language german french english version translate replace opening hours prices phone delete remove',
  'source.credential': 'git password clone move away download repository export',
  'source.files': 'read page post text code download',
  'submission.delete': 'erase enquiry personal data gdpr',
  'token.create': 'access key agent api',
  'token.revoke': 'end remove access key',
  'upload.create': 'photos pictures images owner phone link send',
};
