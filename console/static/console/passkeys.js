// Passkeys: made, used to sign in or to confirm, and used to sign a decision. The server checks all of it.
//
// A form says what it wants: data-passkey="create" or "get" with data-options (WebAuthn's options as JSON),
// "sign-in" with data-url, from which options are fetched, or "sign" with data-url, to which the form is posted
// first. Its field `credential` (or `assertion`) takes what the passkey answered.

const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

function toText(buffer) {
  const raw = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

const withBytes = (list) => (list ?? []).map((each) => ({ ...each, id: toBytes(each.id) }));

async function create({ publicKey }) {
  const made = await navigator.credentials.create({
    publicKey: {
      ...publicKey,
      challenge: toBytes(publicKey.challenge),
      user: { ...publicKey.user, id: toBytes(publicKey.user.id) },
      excludeCredentials: withBytes(publicKey.excludeCredentials),
    },
  });
  return {
    ...common(made),
    response: {
      clientDataJSON: toText(made.response.clientDataJSON),
      attestationObject: toText(made.response.attestationObject),
      transports: made.response.getTransports?.() ?? [],
    },
  };
}

async function get({ publicKey }) {
  const found = await navigator.credentials.get({
    publicKey: {
      ...publicKey,
      challenge: toBytes(publicKey.challenge),
      allowCredentials: withBytes(publicKey.allowCredentials),
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = found.response;
  return {
    ...common(found),
    response: {
      clientDataJSON: toText(clientDataJSON),
      authenticatorData: toText(authenticatorData),
      signature: toText(signature),
      userHandle: userHandle ? toText(userHandle) : null,
    },
  };
}

const common = (credential) => ({
  id: credential.id,
  rawId: toText(credential.rawId),
  type: credential.type,
  clientExtensionResults: credential.getClientExtensionResults(),
});

async function fetched(url, init) {
  const response = await fetch(url, { credentials: "same-origin", headers: { Accept: "application/json" }, ...init });
  if (!response.ok) throw new Error(`No challenge: ${response.status}`);
  return response.status === 204 ? null : response.json();
}

async function answer(form, submitter) {
  switch (form.dataset.passkey) {
    case "create":
      form.elements.credential.value = JSON.stringify(await create(JSON.parse(form.dataset.options)));
      break;
    case "get":
      form.elements.credential.value = JSON.stringify(await get(JSON.parse(form.dataset.options)));
      break;
    case "sign-in":
      form.elements.credential.value = JSON.stringify(await get((await fetched(form.dataset.url)).request_options));
      break;
    case "sign": {
      form.elements.nonce.value = form.elements.assertion.value = "";
      const asked = await fetched(form.dataset.url, { method: "POST", body: new FormData(form, submitter) });
      if (asked) {
        const signed = await get(asked);
        form.elements.nonce.value = asked.nonce;
        form.elements.assertion.value = JSON.stringify(signed);
      }
    }
  }
}

const answered = new WeakSet();

// Before htmx, which listens on the form itself.
document.addEventListener(
  "submit",
  async (event) => {
    const { target: form, submitter } = event;
    if (!form.dataset.passkey || answered.delete(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const problem = form.querySelector("[data-problem]");
    if (problem) problem.hidden = true;
    try {
      await answer(form, submitter);
    } catch (error) {
      if (problem) problem.hidden = false;
      return;
    }
    answered.add(form);
    form.requestSubmit(submitter);
  },
  true,
);
