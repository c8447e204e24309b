// The picture of an example for haptic devices, as SVG: a cut through ring, ball and hand, and height and force over
// time.
#ifndef VOXSHELL_EXAMPLES_PICTURE_H
#define VOXSHELL_EXAMPLES_PICTURE_H

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

namespace touch {

// Metres, newtons, seconds.
struct Moment {
  double time, hand_height, tool_height, force;
};

class Picture {
 public:
  Picture(double ball, double ring, double tube) : ball_(ball), ring_(ring), tube_(tube) {}

  void add(const Moment& moment) { moments_.push_back(moment); }

  // Returns whether the file was written.
  bool write(const char* path) const {
    std::FILE* file = std::fopen(path, "w");
    if (!file) return false;
    std::fprintf(file,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"420\" font-family=\"sans-serif\" "
                 "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    write_cut(file);
    const auto height = [](double Moment::*of) { return [of](const Moment& m) { return 1e3 * (m.*of); }; };
    write_plot(file, 30, "height, mm",
               {{"hand", "#c60", height(&Moment::hand_height)}, {"ball", "#06c", height(&Moment::tool_height)}});
    write_plot(file, 230, "force, N", {{"", "#06c", [](const Moment& m) { return m.force; }}});
    std::fprintf(file, "</svg>\n");
    return std::fclose(file) == 0;
  }

 private:
  struct Line {
    const char *name, *color;
    std::function<double(const Moment&)> value;
  };
  static constexpr double kScale = 3200, kMiddle = 190, kZero = 250;

  // The moment of the largest force.
  void write_cut(std::FILE* file) const {
    for (const double x : {-ring_, ring_}) circle(file, x, 0, tube_, "fill=\"#bbb\" stroke=\"#555\"");
    if (moments_.empty()) return;
    const auto less = [](const Moment& a, const Moment& b) { return a.force < b.force; };
    const Moment& felt = *std::max_element(moments_.begin(), moments_.end(), less);
    circle(file, 0, felt.tool_height, ball_, "fill=\"#9cf\" stroke=\"#06c\"");
    circle(file, 0, felt.hand_height, ball_, "fill=\"none\" stroke=\"#c60\" stroke-dasharray=\"5 4\"");
    std::fprintf(file,
                 "<text x=\"20\" y=\"24\">at %.2f s: ball in the ring; dashed: where the hand pulls it</text>\n",
                 felt.time);
  }

  static void circle(std::FILE* file, double x, double z, double radius, const char* style) {
    std::fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" %s/>\n", kMiddle + kScale * x, kZero - kScale * z,
                 kScale * radius, style);
  }

  void write_plot(std::FILE* file, double top, const char* title, const std::vector<Line>& lines) const {
    const double left = 430, width = 440, height = 150;
    double low = 0, high = 0, end = 1e-9;
    for (const Moment& moment : moments_) {
      end = std::max(end, moment.time);
      for (const auto& line : lines) {
        low = std::min(low, line.value(moment));
        high = std::max(high, line.value(moment));
      }
    }
    const double unit = height / std::max(high - low, 1e-9), zero = top + unit * high;
    std::fprintf(file, "<text x=\"%g\" y=\"%g\">%s, %.1f to %.1f; %.1f s</text>\n", left, top - 6, title, low, high, end);
    std::fprintf(file, "<path d=\"M%g %g v%g M%g %.1f h%g\" stroke=\"#888\"/>\n", left, top, height, left, zero, width);
    double x = left + width - 80;
    for (const auto& line : lines) {
      std::fprintf(file, "<text x=\"%g\" y=\"%g\" fill=\"%s\">%s</text>\n", x, top - 6, line.color, line.name);
      x += 45;
      std::fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", line.color);
      for (const Moment& m : moments_) {
        std::fprintf(file, "%.1f,%.1f ", left + width * m.time / end, zero - unit * line.value(m));
      }
      std::fprintf(file, "\"/>\n");
    }
  }

  double ball_, ring_, tube_;
  std::vector<Moment> moments_;
};

}  // namespace touch

#endif
