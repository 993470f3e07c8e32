/** What people call a page of a site, where its title is not known. */

/** @param {string} path */
export const pageName = (path) => (path === '/' ? 'Home page' : path);

/**
 * The same within a sentence.
 * @param {string} path
 */
export const pageInText = (path) => (path === '/' ? 'the home page' : `the page ${path}`);
