// Small questions to the server, in JSON.

/** Return the answer to a question; an Error with the server's own words if it says no. */
export async function ask(name, question) {
  const response = await fetch(`/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  });
  if (!response.ok) throw new Error(await response.text());
  const answer = await response.json();
  if (answer.error) throw new Error(answer.error);
  return answer;
}
