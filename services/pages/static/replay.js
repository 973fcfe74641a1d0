// Steps through the moments that the page already holds. Without this script each moment has links to its neighbours.

const root = document.documentElement;
const moments = [...document.querySelectorAll(".moment")];
const versions = moments.map((moment) => moment.dataset.version);
const links = new Map(
  [...document.querySelectorAll(".happened a[href^='#v']")].map((link) => [link.hash.slice(2), link]),
);
const happened = document.querySelector(".happened");
const controls = document.querySelector(".controls");
const range = document.getElementById("at");
const play = document.getElementById("play");
const pace = document.getElementById("pace");
const said = document.getElementById("said");
const button = (name) => document.getElementById(name);

let now = -1;
let timer = 0;

function captionOf(moment) {
  return [...moment.querySelectorAll(".caption p")].map((line) => line.textContent).join(". ");
}

function show(place, { quiet = false } = {}) {
  const next = Math.min(Math.max(place, 0), moments.length - 1);
  if (next === now) return;
  moments[now]?.classList.remove("now", "forward");
  moments[next].classList.add("now");
  moments[next].classList.toggle("forward", next === now + 1);
  now = next;
  const caption = captionOf(moments[now]);
  range.value = now;
  range.setAttribute("aria-valuetext", caption);
  if (!quiet) said.textContent = caption;
  button("first").disabled = button("back").disabled = now === 0;
  button("last").disabled = button("forward").disabled = now === moments.length - 1;
  mark(versions[now]);
  history.replaceState(null, "", `#v${versions[now]}`);
}

function mark(version) {
  happened.querySelector("[aria-current=step]")?.removeAttribute("aria-current");
  const link = links.get(version);
  if (!link) return;
  link.setAttribute("aria-current", "step");
  // Only the list is scrolled, and only where it scrolls by itself: the page stays where its reader looks.
  if (happened.scrollHeight > happened.clientHeight) {
    const middle = link.offsetTop - happened.offsetTop - happened.clientHeight / 2;
    happened.scrollTo({ top: middle, behavior: "auto" });
  }
}

function stop() {
  clearInterval(timer);
  timer = 0;
  told(false);
}

function start() {
  if (now === moments.length - 1) show(0);
  clearInterval(timer);
  timer = setInterval(() => {
    show(now + 1);
    if (now === moments.length - 1) stop();
  }, Number(pace.value));
  told(true);
}

function told(runs) {
  play.setAttribute("aria-pressed", String(runs));
  play.title = runs ? controls.dataset.pause : controls.dataset.play;
  play.setAttribute("aria-label", play.title);
}

function step(by) {
  stop();
  show(now + by);
}

const KEYS = {
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  Home: () => step(-moments.length),
  End: () => step(moments.length),
  " ": () => (timer ? stop() : start()),
};

function isForItself(target, key) {
  const field = target.closest("input, select, textarea");
  if (field) return field !== range || key !== " ";  // The slider knows all keys but the one that plays.
  return key === " " && target.closest("a, button, summary") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in KEYS)) return;
  if (isForItself(event.target, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#v']");
  const place = link ? versions.indexOf(link.hash.slice(2)) : -1;
  if (place < 0) return;
  event.preventDefault();
  stop();
  show(place);
  if (matchMedia("(max-width: 899px)").matches) {
    document.querySelector(".board").scrollIntoView({ block: "start" });
  }
});

function fromAddress() {
  return versions.indexOf(location.hash.slice(2));
}

for (const choice of document.querySelectorAll("a[data-suits]")) {
  choice.addEventListener("click", (event) => {
    event.preventDefault();
    const style = choice.dataset.suits;
    root.classList.remove("german", "french");
    root.classList.add(style);
    for (const each of document.querySelectorAll("a[data-suits]")) {
      if (each === choice) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
    for (const path of ["/replay", "/bank"]) {
      document.cookie = `marias_suits=${style}; Path=${path}; SameSite=Strict; Max-Age=31536000`;
    }
  });
}

root.classList.add("scripted");
controls.hidden = false;
range.addEventListener("input", () => { stop(); show(Number(range.value)); });
button("first").addEventListener("click", KEYS.Home);
button("back").addEventListener("click", KEYS.ArrowLeft);
button("forward").addEventListener("click", KEYS.ArrowRight);
button("last").addEventListener("click", KEYS.End);
play.addEventListener("click", KEYS[" "]);
pace.addEventListener("change", () => { if (timer) start(); });
addEventListener("hashchange", () => { const place = fromAddress(); if (place >= 0) { stop(); show(place); } });
const opening = moments.findIndex((moment) => moment.classList.contains("opening"));
show(fromAddress() >= 0 ? fromAddress() : opening, { quiet: true });
