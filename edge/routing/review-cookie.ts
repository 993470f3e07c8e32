/** Marks a browser that opened a review link of the site. Not a secret: its value is the site's public id. */
export const reviewCookie = '__Host-frontage_review';

/** Carries the number of open comments from the review link to the first page, which removes it. */
export const welcomeCookie = '__Host-frontage_welcome';
