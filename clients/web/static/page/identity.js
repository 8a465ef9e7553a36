/** Where this tab keeps what it needs to come back after a reload. */
const stateKey = "callboard.session";
const watchesKey = "callboard.subscriptions";

function load(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null; // not ours, or storage is forbidden
  }
}

function save(key, value) {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // full or forbidden: the tab then begins anew after a reload
  }
}

export const watchStore = { load: () => load(watchesKey) ?? [], save: (v) => save(watchesKey, v) };

/**
 * The store for Client. A duplicated tab has a copy of the storage: it may not
 * use the same client id, or the two would take the session from each other.
 * A lock that lives as long as the page tells whose it is.
 */
export async function openStore() {
  let stored = load(stateKey);
  if (stored && !(await owns(stored.client))) {
    stored = null;
    sessionStorage.removeItem(stateKey);
  }
  return {
    load: () => stored,
    save: (state) => {
      if (state.client !== stored?.client) owns(state.client);
      stored = state;
      save(stateKey, state);
    },
  };
}

/** The broker's WebSocket beside a page: "https://host/" → "wss://host/ws". */
export function besidePage(page) {
  const url = new URL("ws", page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = url.hash = "";
  url.username = url.password = ""; // the browser sends what it was opened with
  return url.href;
}

/** Tells whether this page holds the client id; a page being left gets 0.5 s to let go. */
function owns(client) {
  if (!navigator.locks) return Promise.resolve(true); // only on https and localhost
  return new Promise((resolve) => {
    const options = { signal: AbortSignal.timeout(500) };
    navigator.locks
      .request(`callboard:${client}`, options, () => {
        resolve(true);
        return new Promise(() => {}); // held until the page goes
      })
      .catch(() => resolve(false));
  });
}
