// What pages do beyond links and forms. They work without it; then times are UTC and nothing moves.
"use strict";

const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

// Times are shown in the zone of the reader, which they name, with UTC as the title.
function showLocalTimes(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    time.textContent = localTime.format(new Date(time.dateTime));
  }
}

// Puts new content into a part of the page. A table that is scrolled stays so, and the focus stays
// on the same table or link, if the new content has it too.
function replace(part, html) {
  const known = () => [...part.querySelectorAll(".scroll, a, summary")];
  const name = (element) => element.getAttribute("aria-label") ?? element.textContent;
  const before = known().map((element) => ({
    name: name(element),
    left: element.scrollLeft,
    isFocused: element === document.activeElement,
  }));
  part.innerHTML = html;
  showLocalTimes(part);
  for (const element of known()) {
    const old = before.find((one) => one.name === name(element));
    if (old) {
      element.scrollLeft = old.left;
      if (old.isFocused) {
        element.focus({ preventScroll: true });
      }
    }
  }
}

const RETRY_MILLIS = 5000;

// An element with data-live="PATH" follows that stream: each message has the new content of
// elements by their IDs, and "reload" loads the page anew. While there are none, because of an
// "outage" of Postgres or without a stream, the page says that it shows how things were. A page
// that isn't seen has no stream: a browser keeps six connections to a host, for all of its tabs.
function follow(live) {
  const outage = live.querySelector("[data-outage]");
  let stream;
  let retry;

  function open() {
    stream = new EventSource(live.dataset.live);
    stream.addEventListener("outage", () => {
      outage.hidden = false;
    });
    stream.onmessage = (event) => {
      outage.hidden = true;
      const parts = JSON.parse(event.data);
      for (const [id, html] of Object.entries(parts)) {
        const part = document.getElementById(id);
        if (part) {
          replace(part, html);
        }
      }
    };
    stream.addEventListener("reload", () => {
      close();
      reload();
    });
    // A browser connects again by itself, except after a refusal: the gateway starts, or is full.
    stream.onerror = () => {
      outage.hidden = false;
      if (stream.readyState === EventSource.CLOSED) {
        retry = setTimeout(open, RETRY_MILLIS);
      }
    };
  }

  // In an outage this page is worth more than one that only tells of it.
  async function reload() {
    const answer = await fetch(location.href).catch(() => undefined);
    if (answer && answer.status !== 503) {
      location.reload();
    } else {
      outage.hidden = false;
      retry = setTimeout(reload, RETRY_MILLIS);
    }
  }

  function close() {
    clearTimeout(retry);
    stream?.close();
  }

  function openIfSeen() {
    close();
    if (!document.hidden) {
      open();
    }
  }

  document.addEventListener("visibilitychange", openIfSeen);
  addEventListener("pagehide", close);
  openIfSeen();
}

// A second click on a button would send its form again, and the browser would drop the answer to
// the first one, which alone has the secret of a new API key. No event says that someone
// pressed Stop, so the form can be sent again after a while.
const SENT_MILLIS = 5000;
let sent = new WeakMap();
addEventListener("submit", (event) => {
  const now = performance.now();
  if (now - sent.get(event.target) < SENT_MILLIS) {
    event.preventDefault();
  } else if (event.target.method === "post") {
    sent.set(event.target, now);
  }
});
addEventListener("pageshow", () => {
  sent = new WeakMap();
});

showLocalTimes(document);
for (const live of document.querySelectorAll("[data-live]")) {
  follow(live);
  // A browser that goes back may show the page as it was left, without its stream.
  addEventListener("pageshow", (event) => {
    if (event.persisted) {
      location.reload();
    }
  });
}
