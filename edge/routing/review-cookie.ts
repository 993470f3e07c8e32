/** Marks a browser that opened a review link of the site. Not a secret: its value is the site's public id. */
export const reviewCookie = '__Host-frontage_review';
