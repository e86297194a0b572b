// The theme's search runs in a worker, which browsers refuse to pages that are opened as files. There
// a hidden frame takes the worker's place: the same script, the same messages.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.body.appendChild(document.createElement("iframe"));
      this.frame.hidden = true;
      const inside = this.frame.contentWindow;
      addEventListener("message", (event) => {
        if (event.source === inside) {
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        }
      });
      this.started = new Promise((done) => { inside.started = done; });
      inside.document.write(`<body><script>
        const received = window.postMessage.bind(window);
        window.receive = (data) => received(data, "*");
        window.postMessage = (data) => parent.postMessage(data, "*");
        window.importScripts = (...urls) => urls.reduce((before, url) => before.then(() =>
          new Promise((done) => {
            const script = document.body.appendChild(document.createElement("script"));
            script.onload = done;
            script.src = url;
          })), Promise.resolve());
        </script><script src="${url}" onload="started()"></script></body>`);
      inside.document.close();
    }
    postMessage(data) {
      this.started.then(() => this.frame.contentWindow.receive(data));
    }
    terminate() { this.frame.remove(); }
  };
  window.Worker = window.IFrameWorker;
}
