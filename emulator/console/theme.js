import { html } from "./lit-html/lit-html.js";

const themes = ["system", "light", "dark"];

const chosen = () => {
  const theme = localStorage.getItem("theme");
  return themes.includes(theme) ? theme : "system";
};

/** Applies the theme that was chosen last; "system" follows the browser. */
export const applyTheme = () => void (document.documentElement.dataset.theme = chosen());

function choose(theme) {
  localStorage.setItem("theme", theme);
  applyTheme();
}

export const themeSwitch = () => html`
  <fieldset class="theme">
    <legend class="unseen">Theme</legend>
    ${themes.map(
      (theme) => html`
        <label>
          <input
            type="radio"
            name="theme"
            value=${theme}
            ?checked=${theme === chosen()}
            @change=${() => choose(theme)}
          />
          <span>${theme[0].toUpperCase() + theme.slice(1)}</span>
        </label>
      `,
    )}
  </fieldset>
`;
