// The form that tells a maze's options, and the buttons: what is typed and pressed, as what it asks for.

import { ask } from "./ask.js";
import { chanceText, keysOf, specOfJson } from "./spec.js";

const CHANCES = ["p_east", "p_south", "loops", "braid"];
const OF_ALGORITHM = ["band", "key_interval", "max_tunnels", "max_length"];
const form = document.getElementById("spec");
const fields = [...form.querySelectorAll("input, select")];

/** Listen to the form; `show(spec)` is told each spec that the server has made of it. */
export function listenToForm(show) {
  const error = document.getElementById("spec-error");
  form.algorithm.addEventListener("change", () => {
    for (const name of OF_ALGORITHM) form[name].value = "";
    showFields();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    error.textContent = "";
    try {
      show(specOfJson((await ask("spec", typed())).spec));
    } catch (reason) {
      error.textContent = reason.message;
    }
  });
}

/** Fill the form with a spec. */
export function fillForm(spec) {
  for (const { name } of fields) {
    const value = spec[name] ?? "";
    form[name].value = CHANCES.includes(name) && value !== "" ? chanceText(value) : value;
  }
  document.getElementById("spec-error").textContent = "";
  showFields();
}

/** Show the fields that the algorithm has, and no others. */
function showFields() {
  const keys = keysOf(form.algorithm.value);
  for (const field of fields) field.closest("label").hidden = !keys.includes(field.name);
  for (const pair of form.querySelectorAll(".pair")) {
    pair.hidden = [...pair.children].every((label) => label.hidden);
  }
}

function typed() {
  const keys = keysOf(form.algorithm.value);
  return Object.fromEntries(fields.filter(({ name }) => keys.includes(name)).map(({ name, value }) => [name, value]));
}

/** Call what belongs to each button when it is pressed: {id: action}. */
export function listenToButtons(actions) {
  for (const [id, action] of Object.entries(actions)) document.getElementById(id).addEventListener("click", action);
}

/** Return a seed of 64 bits from the browser's own source of chance. */
export const drawnSeed = () => crypto.getRandomValues(new BigUint64Array(1))[0];
