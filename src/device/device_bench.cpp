#include "src/device/device_bench.hpp"

#include <cstdio>
#include <iostream>

#include "src/bench/record.hpp"
#include "src/catalogue/device_facts.hpp"
#include "src/catalogue/registry.hpp"
#include "src/measure/statistics.hpp"
#include "src/support/build_info.hpp"
#include "src/support/interrupt.hpp"

namespace icobench {
namespace {

const operations& operations_for(const std::string& backend) {
  if (const operations* o = find_operations(backend)) { return *o; }
  std::string message = "--backend " + backend + ": no GPU backend of this build, which has";
  for (const auto& [name, each] : all_operations()) { message += " " + name; }
  throw input_error(message);
}

std::string rate_text(const json& record) {
  char text[64] = "";
  if (record.contains("flops_per_second")) {
    std::snprintf(text, sizeof text, "%8.2f Tflop/s",
                  1e-12 * record.at("flops_per_second").get<double>());
  } else if (record.contains("bytes_per_second")) {
    std::snprintf(text, sizeof text, "%8.1f GB/s",
                  1e-9 * record.at("bytes_per_second").get<double>());
  }
  return text;
}

std::string line(const json& record) {
  const std::string name = record.at("name"), status = record.at("status");
  char text[512];
  if (!record.contains("seconds")) {
    return name + ": " + status + ", " + record.at("reason").get<std::string>();
  }
  const json& s = record.at("seconds");
  const double middle = s.at("median"), low = s.at("low"), high = s.at("high");
  std::snprintf(text, sizeof text, "%12.2f us %5.1f%% %16s", 1e6 * middle,
                50 * (high - low) / middle, rate_text(record).c_str());
  std::string result = text;
  if (record.contains("share")) {
    std::snprintf(text, sizeof text, " %6.1f %% of %s",
                  100 * record.at("share").at("value").get<double>(),
                  record.at("share").at("of").get<std::string>().c_str());
    result += text;
  }
  result += "  " + name;
  for (const auto& mark : record.at("marks")) { result += " (" + mark.get<std::string>() + ")"; }
  return result;
}

}  // namespace

device_bench::device_bench(device_options o, const std::vector<std::string>& arguments)
    : options_(std::move(o)), operations_(operations_for(options_.backend)) {
  device_ = registry::instance().backends().at(options_.backend)(
      choose_device(options_.backend, options_.device));
  if (!options_.dump.empty()) {
    dump_.emplace(options_.dump, std::vector{options_.grid}, "icobench-device-dump-1");
  }
  const gpu::device_facts facts = device_->facts();
  monitor_ = machine_monitor::open(options_.backend, facts.pci_bus_id, machine_state_);
  context_ = {{"date", utc_now()},
              {"arguments", arguments},
              {"icobench", build_info()},
              {"backend", options_.backend},
              {"timed", times()},
              {"device", to_json(facts)},
              {"empty_interval_seconds", times() ? json(empty_interval(*device_)) : json(nullptr)},
              {"machine_state", machine_state_}};
  catch_interrupts([this] {
    const std::lock_guard lock(writing_);
    if (dump_) { dump_->write(false, context_, records_); }
  });
}

std::size_t device_bench::elements(std::size_t on_gpu) const {
  if (options_.elements > 0) { return options_.elements; }
  return simt() ? 10007 : on_gpu;
}

bool device_bench::verify(const measurement& m, json& record) {
  std::string wrong;
  try {
    m.run();
    device_->synchronize();
    wrong = m.check ? m.check() : "";
    record["status"] = wrong.empty() ? (times() ? "ok" : "verified") : "wrong";
  } catch (const gpu::device_error& error) {
    wrong = error.what();
    record["status"] = "failed";
  }
  record["reason"] = !wrong.empty() ? json(wrong)
                     : times()      ? json(nullptr)
                     : simt()       ? json("simt is for verification, not for timing")
                                    : json("not timed");
  failures_ += !wrong.empty();
  return wrong.empty();
}

void device_bench::add_times(const measurement& m, json& record,
                             const std::vector<double>& seconds) {
  const double middle = median(seconds);
  record["seconds"] = statistics(seconds);
  if (m.bytes > 0) { record["bytes_per_second"] = m.bytes / middle; }
  if (m.flops > 0) { record["flops_per_second"] = m.flops / middle; }
  if (const double all = m.reference.empty() ? 0 : rate(m.reference); all > 0) {
    record["share"] = {{"of", m.reference}, {"value", (m.bytes + m.flops) / middle / all}};
  }
  record["samples"] = seconds;
}

void device_bench::keep(json record) {
  std::cout << line(record) << "\n" << std::flush;
  const std::lock_guard lock(writing_);
  records_.push_back(std::move(record));
  if (dump_ && dump_->due()) { dump_->write(false, context_, records_); }
}

namespace {

json new_record(const measurement& m) {
  return {{"name", m.name},
          {"status", "stopped"},
          {"reason", "the run ended before it"},
          {"parameters", m.parameters},
          {"bytes", m.bytes},
          {"flops", m.flops}};
}

}  // namespace

void device_bench::measure(std::vector<measurement> all) {
  struct candidate {
    measurement* what;
    json record;
    machine_record machine;
    std::optional<sampler> samples;
  };
  std::vector<std::unique_ptr<candidate>> candidates;
  for (measurement& m : all) {
    if (interrupted()) { return; }
    auto c = std::make_unique<candidate>();
    c->what = &m;
    c->record = new_record(m);
    const bool right = verify(m, c->record);
    if (!right || !times()) {
      keep(std::move(c->record));
      continue;
    }
    c->machine.judge_by(device_->facts().clock_hz, device_->facts().memory_clock_hz);
    c->samples.emplace(*device_, m.run, options_.sampling_, [this, here = c.get()] {
      if (monitor_) { here->machine.add(monitor_->read()); }
    });
    candidates.push_back(std::move(c));
  }
  for (bool more = true; more && !interrupted();) {
    more = false;
    for (auto& c : candidates) {
      if (c->samples->done() || interrupted()) { continue; }
      c->samples->step();
      more = true;
    }
  }
  for (auto& c : candidates) {
    if (c->samples->result().seconds.empty()) { continue; }
    add_times(*c->what, c->record, c->samples->result().seconds);
    c->record["clock"] = "events";
    c->record["runs_per_sample"] = c->samples->result().runs_per_sample;
    json marks = json::array();
    if (c->machine.throttled()) { marks.push_back("throttled"); }
    if (c->machine.unstable()) { marks.push_back("unstable"); }
    c->record["marks"] = marks;
    c->record["machine"] = c->machine.to_json();
    keep(std::move(c->record));
  }
}

void device_bench::measure_by(measurement m, const std::string& clock, int samples,
                              const std::function<double()>& once) {
  if (interrupted()) { return; }
  json record = new_record(m);
  if (verify(m, record) && times()) {
    once();
    std::vector<double> seconds;
    for (int n = 0; n < samples; ++n) { seconds.push_back(once()); }
    add_times(m, record, seconds);
    record["clock"] = clock;
    record["runs_per_sample"] = 1;
    record["marks"] = json::array();
    record["machine"] = nullptr;
  }
  keep(std::move(record));
}

void device_bench::skip(const std::string& name, const std::string& reason) {
  measurement m;
  m.name = name;
  json record = new_record(m);
  record["status"] = "skipped";
  record["reason"] = reason;
  keep(std::move(record));
}

json* device_bench::find(const std::string& name) {
  for (json& r : records_) {
    if (r.at("name") == name && r.contains("seconds")) { return &r; }
  }
  return nullptr;
}

double device_bench::rate(const std::string& name) {
  const json* const record = find(name);
  if (!record) { return 0; }
  return (record->at("bytes").get<double>() + record->at("flops").get<double>()) /
         record->at("seconds").at("median").get<double>();
}

int device_bench::finish() {
  if (dump_) {
    const std::lock_guard lock(writing_);
    dump_->write(!interrupted(), context_, records_);
  }
  if (interrupted()) { return 130; }
  return failures_ > 0 ? 1 : 0;
}

}  // namespace icobench
