/** A file in the list of the upload page: its name, its state, its progress. */

export class UploadRow {
  #item = document.createElement('li');
  #words = document.createElement('span');
  /** Not read aloud: it changes many times in a second. */
  #percent = document.createElement('span');
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
    this.#percent.setAttribute('aria-hidden', 'true');
    const line = document.createElement('small');
    line.append(this.#words, this.#percent);
    const box = document.createElement('div');
    box.append(name, line, this.#bar);
    this.#item.append(box);
    list.append(this.#item);
  }

  /** @param {string} words */
  #say(words, percent = '') {
    // The list is announced when it changes.
    if (this.#words.textContent !== words) this.#words.textContent = words;
    this.#percent.textContent = percent;
  }

  wait() {
    this.#bar.value = 0;
    this.#say('Waiting');
  }

  /**
   * @param {number} sent
   * @param {number} bytes
   */
  progress(sent, bytes) {
    this.#bar.value = sent;
    if (sent < bytes) this.#say('Sending', ` ${Math.floor((sent / bytes) * 100)}%`);
    else this.#say('Checking…');
  }

  accept() {
    this.#item.className = 'done';
    this.#bar.value = this.#bar.max;
    this.#say('Sent to the website.');
  }

  /**
   * @param {string} reason
   * @param {() => void} [retry]
   */
  refuse(reason, retry) {
    this.#item.className = 'refused';
    this.#say(reason);
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
