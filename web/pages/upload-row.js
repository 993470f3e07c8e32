/** A file in the list of the upload page: its name, its state, its progress. */

export class UploadRow {
  #item = document.createElement('li');
  #words = document.createElement('small');
  #bar = document.createElement('progress');

  /**
   * @param {HTMLElement} list
   * @param {File} file
   */
  constructor(list, file) {
    const name = document.createElement('strong');
    name.textContent = file.name;
    this.#bar.max = file.size || 1;
    this.wait();
    this.#bar.setAttribute('aria-label', file.name);
    const box = document.createElement('div');
    box.append(name, this.#words, this.#bar);
    this.#item.append(box);
    list.append(this.#item);
  }

  wait() {
    this.#bar.value = 0;
    this.#words.textContent = 'Waiting';
  }

  /**
   * @param {number} sent
   * @param {number} bytes
   */
  progress(sent, bytes) {
    this.#bar.value = sent;
    this.#words.textContent = sent < bytes ? `${Math.floor((sent / bytes) * 100)}% sent` : 'Checking…';
  }

  accept() {
    this.#item.className = 'done';
    this.#bar.value = this.#bar.max;
    this.#words.textContent = 'Sent to the website.';
  }

  /**
   * @param {string} reason
   * @param {() => void} [retry]
   */
  refuse(reason, retry) {
    this.#item.className = 'refused';
    this.#words.textContent = reason;
    this.#bar.hidden = true;
    if (!retry) return;
    const button = document.createElement('button');
    button.className = 'quiet small';
    button.textContent = 'Try again';
    button.onclick = () => {
      button.remove();
      this.#item.className = '';
      this.#bar.hidden = false;
      retry();
    };
    this.#item.append(button);
  }
}
