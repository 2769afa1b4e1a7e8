// Small questions to the server, in JSON.

/** Return the answer to a question; an Error with the server's own words if it says no. */
export async function ask(name, question) {
  const response = await fetch(`/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  });
  const type = response.headers.get("Content-Type") ?? "";
  const answer = type.includes("json") ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
