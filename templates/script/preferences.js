/* What a reader prefers, language and theme, and where it is kept: boot, report and site share this. */

export const root = document.documentElement;

/** @param {"lang" | "theme"} key @returns {string | null} */
export function stored(key) {
  try {
    return localStorage.getItem(`evalsuite.${key}`);
  } catch {
    return null; // private mode
  }
}

/** @param {"lang" | "theme"} key @param {string} value */
export function keep(key, value) {
  try {
    localStorage.setItem(`evalsuite.${key}`, value);
  } catch {
    /* private mode: it holds for this page alone */
  }
}

/** Shows the page in a language, its title too. @param {string} language "zh" or "en" */
export function showLanguage(language) {
  root.dataset.lang = language;
  root.lang = language === "zh" ? "zh-CN" : "en";
  document.title = document.querySelector("title").dataset[language] || document.title;
}

/** @param {string} theme "auto", "light" or "dark" */
export function showTheme(theme) {
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
}
