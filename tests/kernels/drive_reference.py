"""A drive under a load, event by event, as the stations of csim.h are described: slow, and built another way than the
kernels, which know when host and die will be done as soon as a read is sent."""

import heapq

from tests.reference import MASK, mix13

GOLDEN = 0x9E3779B97F4A7C15
GATE, HOST_DONE, BURST, DUE_OR_READ = -3, -2, -1, 0  # events of host and CPU come before reads' at the same time


class Drive:
    """``run(until)`` goes on until that many lookups are complete. read_ns: latencies so far; lookup_ns: those of
    groups, each with its lookups."""

    def __init__(self, stations, pages, ends, lookups, max_reads, max_groups, rate):
        self.s, self.max_reads, self.max_groups, self.rate = stations, max_reads, max_groups, rate
        self.now = self.started = self.sent = self.area = self.lookups_done = 0
        self.read_ns, self.lookup_ns, self.in_flight, self.events = [], [], {}, []
        self.free, self.open_groups, self.sending = list(range(max_reads))[::-1], set(), []
        self.cpu_free, self.bursts = 0, []  # each a list of (slot, cost at the host)
        self.host_queue, self.host_busy = [], False
        self.die_free, self.channel_free, self.link_free = {}, {}, 0
        self.groups = self._forever(pages, ends, lookups)
        self.next = next(self.groups)

    @staticmethod
    def _forever(pages, ends, lookups):
        number = 0
        while True:
            for begin, end, count in zip([0, *ends[:-1]], ends, lookups, strict=True):
                yield number, list(pages[begin:end]), count
                number += 1

    def run(self, until):
        while self.lookups_done < until:
            due = self._send(until)
            if self.lookups_done >= until:
                break
            while self.events and self.events[0][0] <= due and self.events[0][1] < DUE_OR_READ:
                self._host_event(*heapq.heappop(self.events))
            if self.events and self.events[0][0] <= due:
                self._read_event(*heapq.heappop(self.events))
            else:
                self._pass(due)

    def _pass(self, time):
        self.area += len(self.in_flight) * (time - self.now)
        self.now = time

    def _send(self, until):
        """Send what may be sent now; when the next group is due, if nothing else holds it up."""
        while len(self.in_flight) < self.max_reads:
            first = not self.sending
            if first:
                if self.lookups_done >= until or len(self.open_groups) == self.max_groups:
                    break
                number, pages, count = self.next
                began = int(self.started / self.rate * 1e9) if self.rate else self.now
                if began > self.now:
                    return began
                self.next = next(self.groups)
                self.started += count
                if not pages:
                    self._group_done(began, count)
                    continue
                self.sending = pages
                self.group = {"number": number, "began": began, "count": count, "left": len(pages)}
                self.open_groups.add(number)
            ready = []
            while self.sending and len(self.in_flight) < self.max_reads:
                slot = self.free.pop()
                self.in_flight[slot] = (self.now, self.sending.pop(0), self.sent, self.group)
                self.sent += 1
                ready.append((slot, self.s.read + (0 if ready or not first else self.s.group)))
            most = max(3, self.max_reads // 8)
            for at in range(0, len(ready), most):
                self._burst(ready[at : at + most])
        return float("inf")

    def _burst(self, reads):
        self.cpu_free = max(self.now, self.cpu_free) + len(reads) * self.s.cpu
        heapq.heappush(self.events, (self.cpu_free, BURST, len(self.bursts)))
        self.bursts.append(reads)

    def _wake(self, time):
        self.host_busy = True
        heapq.heappush(self.events, (time + self.s.wake, GATE, 0))

    def _host_event(self, time, kind, number):
        self._pass(time)
        if kind == BURST:
            self.host_queue += self.bursts[number]
            if not self.host_busy:
                self._wake(time)
            return
        if kind == HOST_DONE:
            self.host_busy = False
            if self.host_queue:
                self._wake(time)
            return
        for slot, cost in self.host_queue:
            time += cost
            self._sense(slot, time + self.s.delay)
        self.host_queue = []
        heapq.heappush(self.events, (time, HOST_DONE, 0))

    def _sense(self, slot, time):
        _, page, number, _ = self.in_flight[slot]
        if self.s.sense:
            die = ((mix13(self.s.seed ^ page) >> 32) * self.s.dies) >> 32
            drawn = mix13((self.s.seed + number * GOLDEN) & MASK) >> 32
            begins = max(time, self.die_free.get(die, 0))
            time = begins + self.s.sense - self.s.jitter + ((drawn * (2 * self.s.jitter + 1)) >> 32)
            self.die_free[die] = time
        self._after(slot, time, 0)

    def _after(self, slot, time, step):
        """The read is through with ``step``: 0 die, 1 channel, 2 link. Stations of no time are not there."""
        if step == 0 and not self.s.bus:
            step = 1
        if step == 1 and not self.s.link:
            step = 2
        heapq.heappush(self.events, (time, step, slot))

    def _read_event(self, time, step, slot):
        self._pass(time)
        sent, page, _, group = self.in_flight[slot]
        if step == 0:
            channel = ((mix13(self.s.seed ^ page) >> 32) * self.s.dies >> 32) % self.s.channels
            self.channel_free[channel] = max(time, self.channel_free.get(channel, 0)) + self.s.bus
            self._after(slot, self.channel_free[channel], 1)
        elif step == 1:
            self.link_free = max(time, self.link_free) + self.s.link
            self._after(slot, self.link_free, 2)
        else:
            del self.in_flight[slot]
            self.free.append(slot)
            self.read_ns.append(time - sent)
            group["left"] -= 1
            if not group["left"]:
                self.open_groups.remove(group["number"])
                self._group_done(group["began"], group["count"])

    def _group_done(self, began, count):
        self.lookups_done += count
        self.lookup_ns.append((self.now - began, count))
