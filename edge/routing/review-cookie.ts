/** On a site's host, says that this browser came by a review link. No secret: its value is the site's public id. */
export const reviewCookie = '__Host-frontage_review';
